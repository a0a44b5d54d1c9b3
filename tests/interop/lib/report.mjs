// How every program here reports: one JSON line per check, `N passed, N failed`
// at the end, and an exit code that says the same.

import assert from 'node:assert/strict';

const counts = { passed: 0, failed: 0 };

/**
 * Runs one check and reports it. A check that neither returns nor throws within
 * `limit` ms has failed: a promise of the published client may never settle.
 */
export async function check(name, body, limit = 10_000) {
  const started = performance.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${limit} ms`)), limit);
  });
  try {
    await Promise.race([body(), late]);
    counts.passed += 1;
    line({ check: name, ok: true, ms: Math.round(performance.now() - started) });
  } catch (error) {
    counts.failed += 1;
    line({ check: name, ok: false, error: describe(error) });
  } finally {
    clearTimeout(timer);
  }
}

/** Prints the closing line and ends the process. */
export function finish() {
  const code = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`, () => process.exit(code));
}

/** Deep strict equality; the message shows both sides in short. */
export function same(actual, expected, what = 'value') {
  try {
    assert.deepStrictEqual(actual, expected);
  } catch {
    throw new Error(`${what}: expected ${brief(expected)}, got ${brief(actual)}`);
  }
}

/** Fails with `what` unless `condition` holds. */
export function ensure(condition, what) {
  if (!condition) throw new Error(what);
}

/** Waits until `condition()` holds (looks every few ms), for `limit` ms at most. */
export async function until(condition, what, limit = 5_000) {
  const deadline = performance.now() + limit;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${limit} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function line(object) {
  process.stdout.write(`${JSON.stringify(object)}\n`);
}

function describe(error) {
  return error instanceof Error ? error.message : brief(error);
}

function brief(value) {
  const text = typeof value === 'string' ? JSON.stringify(value) : inspect(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

function inspect(value) {
  try {
    return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v)) ?? String(value);
  } catch {
    return String(value);
  }
}
