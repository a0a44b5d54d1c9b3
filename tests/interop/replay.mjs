// Replays the transport vectors byte for byte: requests, responses and headers
// over HTTP, frames and close codes over WebSocket, and what the published
// clients send.
//
//   node replay.mjs                          against the published servers, which it starts
//   node replay.mjs --url URL [--server S]   against a server that runs; only the vectors whose
//                                            `server` is S ("json:true") and that need no order
//
// This guards the vectors themselves and shows how each was captured; the Rust
// runner replays the same files against polywire.

import { createServer } from 'node:net';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { addresses, args } from './lib/args.mjs';
import { ensure, same, until } from './lib/expect.mjs';
import { startPeer } from './lib/peer.mjs';
import { exchange, RawWebSocket } from './lib/raw.mjs';
import { check, finish } from './lib/report.mjs';
import { vectors } from './lib/vectors.mjs';

const require = createRequire(import.meta.url);
const { HttpClient, WsClient } = require('tsrpc');

const given = args({ url: undefined, http: undefined, ws: undefined, server: 'json:true' });
const { serviceProto, http, websocket, clientRequests } = vectors('tsrpc-transport-vectors.json');

/** Longer than the API timeout of the test servers, so that "no answer" means what it says. */
const SILENCE = 600;
const IGNORED = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);
const SERVERS = {
  'json:true': [],
  'json:false': ['--json', 'false'],
  'json:true, jsonHostPath:"api/v1", cors:undefined': ['--json-host-path', 'api/v1', '--cors', 'off'],
};

const running = given.url || given.http ? { [given.server]: addresses(given) } : {};

async function serverFor(name) {
  running[name] ??= await startPeer(...SERVERS[name]);
  return running[name];
}

async function replayHttp({ server, request, response }) {
  const { bodyText, bodyHex, ...rest } = request;
  const body = bodyText !== undefined ? Buffer.from(bodyText) : bodyHex !== undefined ? Buffer.from(bodyHex, 'hex') : undefined;
  const got = await exchange((await serverFor(server)).http, { ...rest, body }, response ? 5_000 : SILENCE);
  if (!response) return ensure(got === undefined, `expected no response, got ${got?.status}`);
  ensure(got, 'no response');
  same(got.status, response.status, 'status');
  same(visible(got.headers), visible(Object.entries(response.headers)), 'headers');
  if (response.bodyHex !== undefined) return same(got.body.toString('hex'), response.bodyHex, 'body');
  same(got.body.toString('utf8'), response.bodyText, 'body');
}

/** Headers that a vector speaks of: names in lower case (they are case-insensitive), sorted. */
function visible(headers) {
  return headers
    .map(([name, value]) => [name.toLowerCase(), value])
    .filter(([name]) => !IGNORED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

async function replaySession({ server, offered, negotiated, extensions, steps }) {
  const ws = await RawWebSocket.open((await serverFor(server)).ws, offered);
  same(ws.negotiated, negotiated, 'subprotocol');
  same(ws.extensions, extensions, 'extensions');
  for (const { send, recv } of steps) {
    ws.send(send);
    for (const frame of recv) same(await ws.receive(5_000), frame, `answer to ${JSON.stringify(send)}`);
  }
  if (steps.at(-1).recv.length === 0) same(await ws.receive(SILENCE), undefined, 'answer');
  ws.close();
}

/** A vector whose steps name connections: they are opened first, then the server gets its order. */
async function replayOrder({ server, steps }, order) {
  const peer = await startPeer(...SERVERS[server]);
  const sockets = [];
  for (const { connection } of steps) sockets.push(await RawWebSocket.open(peer.ws, connection));
  peer.order(order);
  for (const [i, { recv }] of steps.entries()) {
    for (const frame of recv) same(await sockets[i].receive(5_000), frame, `on ${steps[i].connection}`);
  }
  for (const ws of sockets) ws.close();
  await peer.stop();
}

function orderOf(name) {
  if (name.startsWith('server.stop()')) return '!stop';
  return name.startsWith('broadcastMsg(') ? '!broadcast bc' : undefined;
}

/** What the published HttpClient sends, taken by a bare TCP server. */
async function replayRequest(vector) {
  const [, call, mode] = /(callApi|sendMsg).* (binary|json)/.exec(vector.name);
  let received = '';
  const listener = createServer((socket) => socket.on('data', (chunk) => { received += chunk.toString('latin1'); }));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  const client = new HttpClient(serviceProto, { server: `http://127.0.0.1:${port}`, json: mode === 'json', timeout: 0 });
  if (call === 'callApi') client.callApi('Add', { a: 1, b: 2 });
  else client.sendMsg('Chat', { content: 'hi', time: new Date(0) });
  const body = vector.bodyText !== undefined ? Buffer.from(vector.bodyText) : Buffer.from(vector.bodyHex, 'hex');
  const expected = `${vector.head.join('\r\n')}\r\n\r\n${body.toString('latin1')}`;
  await until(() => received.length >= expected.length, 'the request');
  same(received.replace(String(port), 'PORT'), expected, 'request');
  listener.close();
}

/** What the published WsClient sends, taken from its socket. */
async function replayFrames({ frames, name }) {
  const { ws } = await serverFor('json:true');
  const client = new WsClient(serviceProto, {
    server: ws,
    json: name.includes('json:true'),
    heartbeat: { interval: 60_000, timeout: 5_000 },
  });
  const sent = [];
  const { send } = client._wsp;
  client._wsp.send = function record(data) {
    sent.push(typeof data === 'string' ? { text: data } : { hex: Buffer.from(data).toString('hex') });
    return send.call(this, data);
  };
  await client.connect();
  await client.callApi('Add', { a: 1, b: 2 });
  await client.callApi('Echo', { d: new Date(0), buf: new Uint8Array([1]) });
  await client.sendMsg('Chat', { content: 'x', time: new Date(0) });
  same(sent, frames, 'frames');
  await client.disconnect();
}

const ownServers = Object.keys(running).length === 0;
const wanted = ({ server }) => ownServers || server === given.server;

for (const vector of http.filter(wanted)) await check(`http: ${vector.name}`, () => replayHttp(vector));
for (const vector of websocket.filter(wanted)) {
  const order = orderOf(vector.name);
  if (!order) await check(`websocket: ${vector.name}`, () => replaySession(vector));
  else if (ownServers) await check(`websocket: ${vector.name}`, () => replayOrder(vector, order));
}
if (ownServers) {
  for (const vector of clientRequests) {
    await check(`client: ${vector.name}`, () => (vector.frames ? replayFrames(vector) : replayRequest(vector)));
  }
}
finish();
