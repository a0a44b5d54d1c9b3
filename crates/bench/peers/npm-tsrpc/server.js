// The contract of the benchmark, served by the npm package `tsrpc`.
//
//   node server.js --port PORT [--broadcast]
//
// Prints "ready" when it listens. JSON and binary share the port: the
// subprotocol a client offers decides. Logging is off, because TSRPC's own
// logger costs more than the call.
'use strict';

const { WsServer } = require('tsrpc');

const string = { type: 'String' };
const date = { type: 'Date' };
const property = (id, name, type) => ({ id, name, type });
const record = (...properties) => ({ type: 'Interface', properties });

const serviceProto = {
    services: [
        { id: 0, name: 'Chat', type: 'msg' },
        { id: 1, name: 'Send', type: 'api' },
    ],
    types: {
        'MsgChat/MsgChat': record(property(0, 'content', string), property(1, 'time', date)),
        'PtlSend/ReqSend': record(property(0, 'content', string)),
        'PtlSend/ResSend': record(property(0, 'time', date)),
    },
};

const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
const broadcast = process.argv.includes('--broadcast');

const server = new WsServer(serviceProto, { port, json: true, logLevel: 'none' });

server.implementApi('Send', call => {
    const time = new Date();
    call.succ({ time });
    if (broadcast) {
        server.broadcastMsg('Chat', { content: call.req.content, time });
    }
});

server.start().then(
    () => console.log('ready'),
    error => {
        console.error(error);
        process.exit(1);
    },
);
