// The contract of the benchmark, served by fastify's WebSocket plugin with ajv.
//
//   node fastify-ws.js --port PORT [--broadcast]
//
// Prints "ready" when it listens. JSON only.
'use strict';

const fastify = require('fastify')({ logger: false });
const { compile } = require('./contract');

const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
const broadcast = process.argv.includes('--broadcast');
const answer = compile();

fastify.register(require('@fastify/websocket'), {
    options: { handleProtocols: () => 'text', perMessageDeflate: false },
});
fastify.register(async app => {
    app.get('/', { websocket: true }, socket => {
        socket.on('message', data => {
            const { reply, chat } = answer(data.toString(), broadcast);
            socket.send(reply);
            if (chat) {
                for (const other of app.websocketServer.clients) other.send(chat);
            }
        });
    });
});
fastify.listen({ port, host: '127.0.0.1' }).then(() => console.log('ready'), error => {
    console.error(error);
    process.exit(1);
});
