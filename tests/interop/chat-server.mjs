// The chat example on the published server: the same page, the same contract.
// Shows that the page is bound to TSRPC, not to polywire.
//
//   node chat-server.mjs [--port PORT]
//
// Prints `ready {"url": URL}`; ends when its standard input ends.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { args } from './lib/args.mjs';

const require = createRequire(import.meta.url);
const { WsServer } = require('tsrpc');

const given = args({ port: '0' });
const WEB = new URL('../../examples/chat/web/', import.meta.url);
const TYPES = { '.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8' };

const source = await readFile(new URL('serviceProto.ts', WEB), 'utf8');
const serviceProto = JSON.parse(/serviceProto: ServiceProto<ServiceType> = (\{[^]*\});$/.exec(source)[1]);

const server = new WsServer(serviceProto, { port: Number(given.port), json: true, logLevel: 'none' });

server.implementApi('Send', async (call) => {
  const { content } = call.req;
  if (content === '') return call.error('A line needs at least one character.');
  const time = new Date();
  await call.succ({ time });
  await server.broadcastMsg('Chat', { content, time });
});

await server.start();
server._httpServer.on('request', async (request, response) => {
  const name = request.url.split('?')[0] === '/' ? '/index.html' : request.url;
  const body = await readFile(new URL(`dist${name}`, WEB)).catch(() => undefined);
  response.writeHead(body ? 200 : 404, { 'Content-Type': TYPES[extname(name)] ?? 'text/plain' });
  response.end(body ?? 'not found');
});

process.stdout.write(`ready ${JSON.stringify({ url: `http://127.0.0.1:${server._httpServer.address().port}` })}\n`);
process.stdin.resume().on('end', () => process.exit(0));
