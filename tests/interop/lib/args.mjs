// Command-line arguments of the programs here.

import { parseArgs } from 'node:util';

/**
 * The values of `--name VALUE` arguments; `defaults` names the accepted ones and
 * gives what an absent one is. Anything else ends the process with a message.
 */
export function args(defaults) {
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]));
  try {
    const { values } = parseArgs({ options });
    return { ...defaults, ...values };
  } catch (error) {
    process.stderr.write(`${error.message}\nknown: ${Object.keys(options).map((name) => `--${name}`).join(' ')}\n`);
    process.exit(2);
  }
}

/**
 * Addresses of the server under test. A server on one port is given by `--url`;
 * the published one needs a port for each transport: `--http` and `--ws`.
 */
export function addresses({ url, http, ws }) {
  const found = {
    http: http ?? url?.replace(/^ws/, 'http'),
    ws: ws ?? url?.replace(/^http/, 'ws'),
  };
  if (found.http && found.ws) return found;
  process.stderr.write('give the server under test: --url http://HOST:PORT, or --http and --ws\n');
  process.exit(2);
}
