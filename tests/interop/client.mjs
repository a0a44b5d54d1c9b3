// The unchanged npm `tsrpc` clients against a server of the test service.
//
//   node client.mjs (--url http://HOST:PORT | --http URL --ws URL) [--suite NAME] [--published true]
//
//   suite main       (default) everything that leaves the server running
//         watchdog   the server was started with a heartbeat wait of 150 ms
//         stop       stops the server while calls run
//         graceful   stops it gracefully; the server's API timeout is 10 s
//   published        the server is npm `tsrpc`: its known bugs are what is expected
//
// The server's API timeout must be 300 ms otherwise. How it is told to broadcast, close or
// stop: lib/testproto.mjs.

import { createRequire } from 'node:module';
import { addresses, args } from './lib/args.mjs';
import { checks } from './lib/checks/index.mjs';
import { lifecycle } from './lib/checks/lifecycle.mjs';
import { check, finish } from './lib/report.mjs';
import { vectors } from './lib/vectors.mjs';

// The CommonJS builds: only that of `tsrpc` finds the ObjectId class, and it is that of the CommonJS `bson`.
const require = createRequire(import.meta.url);
const { ObjectId } = require('bson');
const { HttpClient, WsClient } = require('tsrpc');

const given = args({ url: undefined, http: undefined, ws: undefined, suite: 'main', published: 'false' });
const platform = {
  HttpClient,
  WsClient,
  serviceProto: vectors('tsrpc-transport-vectors.json').serviceProto,
  ...addresses(given),
  objectIds: [
    { name: 'class', options: {}, make: (hex) => new ObjectId(hex) },
    { name: 'string', options: { customObjectIdClass: String }, make: (hex) => hex },
  ],
  published: given.published === 'true',
};

const suites = { main: () => checks(platform), ...lifecycle(platform) };
if (!suites[given.suite]) {
  process.stderr.write(`unknown suite ${given.suite}; known: ${Object.keys(suites).join(' ')}\n`);
  process.exit(2);
}
for (const { name, run } of suites[given.suite]()) await check(name, run);
finish();
