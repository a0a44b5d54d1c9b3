// How every program here reports: one JSON line per check, `N passed, N failed`
// at the end, and an exit code that says the same.

import { within } from './expect.mjs';

const counts = { passed: 0, failed: 0 };

/** Runs one check and reports it; one that neither returns nor throws within `limit` ms has failed. */
export async function check(name, body, limit = 10_000) {
  const started = performance.now();
  const result = { check: name };
  try {
    await within(limit, body);
    result.ok = true;
  } catch (error) {
    result.ok = false;
    result.error = error instanceof Error ? error.message : String(error);
  }
  report({ ...result, ms: Math.round(performance.now() - started) });
}

/** Reports a check that ran elsewhere: `{check, ok, error?, ms?}`. */
export function report(result) {
  counts[result.ok ? 'passed' : 'failed'] += 1;
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** Prints the closing line and ends the process. */
export function finish() {
  const code = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`, () => process.exit(code));
}
