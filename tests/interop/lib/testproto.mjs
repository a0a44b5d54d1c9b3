// The service that all peers here speak: the `serviceProto` of the transport
// vectors, with the handlers that the `note` in that file describes.
//
// One addition: on a WebSocket, a `Chat` whose content starts with `!` is an
// order to the server and gets no answer of its own. A server under test has
// them as well.
//
//   !broadcast TEXT     broadcasts Chat {content: TEXT, time: 0} to all connections
//   !close CODE REASON  closes this connection
//   !stop               stops the server, reason `Server stopped`
//   !graceful-stop      the same, after the calls that run have been answered

import { createRequire } from 'node:module';
import { vectors } from './vectors.mjs';

// The CommonJS build: only that one finds the ObjectId class of bson.
const require = createRequire(import.meta.url);
const { HttpServer, TsrpcError, WsServer } = require('tsrpc');

export const { serviceProto } = vectors('tsrpc-transport-vectors.json');

const EPOCH = new Date(0);

const apis = {
  Add: (call) => call.succ({ sum: call.req.a + call.req.b }),
  Echo: (call) => call.succ(call.req),
  Err: (call) => failures[call.req.mode](call),
  Slow: async (call) => {
    await new Promise((resolve) => setTimeout(resolve, call.req.ms));
    call.succ({});
  },
};

const failures = {
  api: (call) => call.error('bad thing'),
  code: (call) => call.error('bad thing', { code: 'E_CODE' }),
  intcode: (call) => call.error('bad thing', { code: -5 }),
  throw: () => { throw new Error('boom'); },
  throwTsrpc: () => { throw new TsrpcError('tboom', { code: 'T', foo: { x: 1 }, d: EPOCH }); },
  badres: (call) => call.succ({ ok: 'notbool' }),
  none: () => {},
  extra: (call) => call.succ({ ok: true, zzz: 1 }),
  twice: async (call) => {
    await call.succ({ ok: true });
    await call.succ({ ok: false });
    await call.error('too late');
  },
};

const orders = {
  '!broadcast': (server, _conn, text) => server.broadcastMsg('Chat', { content: text, time: EPOCH }),
  '!close': (_server, conn, text) => {
    const [code, ...reason] = text.split(' ');
    return conn.close(reason.join(' '), Number(code));
  },
  '!stop': (server) => server.stop(),
  '!graceful-stop': (server) => server.gracefulStop(),
};

/** Carries out an order; false if `content` is none. */
export function obey(server, conn, content) {
  const [name, ...rest] = content.split(' ');
  const order = orders[name];
  order?.(server, conn, rest.join(' '));
  return order !== undefined;
}

/** The published HttpServer with the handlers above; options as it takes them. */
export function httpServer(options) {
  const server = new HttpServer(serviceProto, { ...options, logLevel: 'none' });
  implement(server);
  return server;
}

/** The published WsServer with the handlers above; options as it takes them. */
export function wsServer(options) {
  const server = new WsServer(serviceProto, { ...options, logLevel: 'none' });
  implement(server);
  server.listenMsg(/./, (call) => {
    if (call.service.name === 'Chat' && obey(server, call.conn, call.msg.content)) return;
    call.conn.sendMsg('Chat', { content: `got ${call.service.name}`, time: EPOCH });
  });
  return server;
}

function implement(server) {
  for (const [name, handler] of Object.entries(apis)) server.implementApi(name, handler);
}
