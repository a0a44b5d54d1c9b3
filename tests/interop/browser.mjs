// Headless Chromium against a server: the chat page in two tabs, and the
// unchanged `tsrpc-browser` clients against the test service.
//
//   node browser.mjs [--chat URL [--screenshots DIR]]
//                    [--url URL | --http URL --ws URL] [--published true]
//
// Give one of them or both. Any error in a console fails, but for what Chromium
// itself logs about the responses that a check asks for.

import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { addresses, args } from './lib/args.mjs';
import { launch } from './lib/browser.mjs';
import { chat } from './lib/checks/chat.mjs';
import { check, finish, report } from './lib/report.mjs';
import { vectors } from './lib/vectors.mjs';

const given = args({
  chat: undefined,
  screenshots: undefined,
  url: undefined,
  http: undefined,
  ws: undefined,
  published: 'false',
});

/** Runs the client checks in a page of another origin than the server's, as a web application would. */
async function clients(browser) {
  const { outputFiles: [script] } = await build({
    entryPoints: [fileURLToPath(new URL('page.mjs', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
  });
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('Content-Type', `${isScript ? 'text/javascript' : 'text/html'}; charset=utf-8`);
    response.end(isScript ? script.contents : '<!doctype html><link rel="icon" href="data:,"><script src="page.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const page = await browser.newPage();
  const uncaught = [];
  page.on('pageerror', (error) => uncaught.push(error.message));
  await page.exposeFunction('report', report);
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate((platform) => globalThis.runChecks({ ...platform, report: globalThis.report }), {
    serviceProto: vectors('tsrpc-transport-vectors.json').serviceProto,
    ...addresses(given),
    published: given.published === 'true',
  });
  await check('browser: no uncaught error in the page', async () => {
    if (uncaught.length > 0) throw new Error(uncaught.join('\n'));
  });
  await page.close();
  server.close();
}

const withClients = given.url || given.http;
if (!given.chat && !withClients) {
  process.stderr.write('give --chat URL, or the server under test, or both\n');
  process.exit(2);
}
const browser = await launch();
if (given.chat) {
  if (given.screenshots) await mkdir(given.screenshots, { recursive: true });
  await chat({ browser, url: given.chat, screenshots: given.screenshots, check: (name, body) => check(name, body, 30_000) });
}
if (withClients) await clients(browser);
await browser.close();
finish();
