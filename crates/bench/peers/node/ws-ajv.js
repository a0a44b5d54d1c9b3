// The contract of the benchmark, served by the npm packages `ws` and `ajv`: what a Node
// program looks like that leaves TSRPC out.
//
//   node ws-ajv.js --port PORT [--broadcast]
//
// Prints "ready" when it listens. JSON only.
'use strict';

const { WebSocketServer } = require('ws');
const { compile } = require('./contract');

const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
const broadcast = process.argv.includes('--broadcast');
const answer = compile();

const server = new WebSocketServer({ port, host: '127.0.0.1', handleProtocols: () => 'text', perMessageDeflate: false });
server.on('connection', socket => {
    socket.on('message', data => {
        const { reply, chat } = answer(data.toString(), broadcast);
        socket.send(reply);
        if (chat) {
            for (const other of server.clients) other.send(chat);
        }
    });
});
server.on('listening', () => console.log('ready'));
