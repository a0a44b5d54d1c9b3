// Runs in a browser page: the checks of `lib/checks` with `tsrpc-browser`.
// `browser.mjs` bundles it, serves it and gathers what it reports.

import { HttpClient, WsClient } from 'tsrpc-browser';
import { checks } from './lib/checks/index.mjs';
import { within } from './lib/expect.mjs';

/** Runs every check and hands each result to `report`. */
globalThis.runChecks = async ({ report, ...platform }) => {
  const list = checks({
    ...platform,
    HttpClient,
    WsClient,
    objectIds: [{ name: 'string', options: {}, make: (hex) => hex }],
  });
  for (const { name, run } of list) {
    const started = performance.now();
    const result = { check: `browser ${name}` };
    try {
      await within(10_000, run);
      result.ok = true;
    } catch (error) {
      result.ok = false;
      result.error = error instanceof Error ? error.message : String(error);
    }
    await report({ ...result, ms: Math.round(performance.now() - started) });
  }
};
