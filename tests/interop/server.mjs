// The published TSRPC servers with the test service, as a peer for clients.
//
//   node server.mjs [--http PORT|off] [--ws PORT|off] [--json true|false] [--api-timeout MS]
//                   [--json-host-path PATH] [--cors ORIGIN|off] [--heartbeat-wait MS]
//
// PORT 0 (the default) takes a free one. Prints one line `ready {"http": URL, "ws": URL}`
// when both listen. Reads orders, one a line (`!broadcast TEXT`, `!stop`), and ends
// when its standard input ends, so that it never outlives the test that started it.

import { createInterface } from 'node:readline';
import { args } from './lib/args.mjs';
import { httpServer, obey, wsServer } from './lib/testproto.mjs';

const given = args({
  http: '0',
  ws: '0',
  json: 'true',
  'api-timeout': '300',
  'json-host-path': '/',
  cors: '*',
  'heartbeat-wait': '0',
});

const options = { json: given.json === 'true', apiTimeout: Number(given['api-timeout']) };
const ready = {};

if (given.http !== 'off') {
  const server = httpServer({
    ...options,
    port: Number(given.http),
    jsonHostPath: given['json-host-path'],
    cors: given.cors === 'off' ? undefined : given.cors,
  });
  await server.start();
  ready.http = `http://127.0.0.1:${server.httpServer.address().port}`;
}

let ws;
if (given.ws !== 'off') {
  ws = wsServer({
    ...options,
    port: Number(given.ws),
    heartbeatWaitTime: Number(given['heartbeat-wait']) || undefined,
  });
  await ws.start();
  ready.ws = `ws://127.0.0.1:${ws._httpServer.address().port}`;
}

process.stdout.write(`ready ${JSON.stringify(ready)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  if (!ws || !obey(ws, undefined, line)) process.stderr.write(`unknown order: ${line}\n`);
}
process.exit(0);
