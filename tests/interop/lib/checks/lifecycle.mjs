// Checks that need a server of their own: it watches heartbeats, or is stopped.

import { ensure, same, sleep, until } from '../expect.mjs';

const EPOCH = new Date(0);

/** Suites by name, each a function that gives `[{name, run}]`. */
export function lifecycle({ WsClient, HttpClient, serviceProto, http, ws: server, published }) {
  /** A connected client that notes how it ends. */
  async function connect(options) {
    const client = new WsClient(serviceProto, { server, ...options });
    const connected = await client.connect();
    ensure(connected.isSucc, connected.errMsg);
    client.end = {};
    const { onClose } = client._wsp.options;
    client._wsp.options.onClose = (code, reason) => { client.end = { code, reason }; onClose(code, reason); };
    return client;
  }
  const order = (client, content) => client.sendMsg('Chat', { content, time: EPOCH });
  const stopped = { code: 1000, reason: 'Server stopped' };
  const lost = { isSucc: false, err: { message: 'Server stopped', type: 'NetworkError', code: 'LOST_CONN' } };

  return {
    watchdog: () => [
      { name: 'watchdog: a client that never pings is closed with 3001', run: async () => {
        const client = await connect();
        await until(() => client.end.code, 'the close');
        same(client.end, { code: 3001, reason: 'Receive heartbeat timeout' });
      } },
      { name: 'watchdog: a client that pings stays', run: async () => {
        const clients = [];
        for (const json of [true, false]) clients.push(await connect({ json, heartbeat: { interval: 40, timeout: 2_000 } }));
        // Each answered ping is a frame. Twenty take several times as long as the server waits for one.
        await Promise.all(clients.map(async (client) => {
          let answered = 0;
          const { onMessage } = client._wsp.options;
          client._wsp.options.onMessage = (data) => { answered += 1; onMessage(data); };
          await until(() => answered >= 20 || client.end.code, 'twenty answered pings');
        }));
        for (const client of clients) same(await client.callApi('Add', { a: 1, b: 2 }), { isSucc: true, res: { sum: 3 } });
        await Promise.all(clients.map((client) => client.disconnect()));
      } },
    ],

    stop: () => [
      { name: 'stop: connections are told, calls in flight are lost, the port is free', run: async () => {
        const clients = [await connect({ json: true }), await connect({ json: false }), await connect()];
        const calls = clients.map((client) => client.callApi('Slow', { ms: 250 }));
        await begun(clients);
        await order(clients[0], '!stop');
        for (const call of calls) same(await call, lost);
        for (const client of clients) same(client.end, stopped);
        await refused();
      } },
    ],

    graceful: () => [
      { name: 'graceful stop: calls in flight are answered, newcomers sent away with 1012', run: async () => {
        const clients = [await connect({ json: true }), await connect({ json: false })];
        const calls = clients.map((client) => client.callApi('Slow', { ms: 2_000 }));
        await begun(clients);
        await order(clients[0], '!graceful-stop');
        // What comes now is ignored, so a call that is not answered says that the stop has begun.
        await until(async () => !(await clients[0].callApi('Add', { a: 1, b: 2 }, { timeout: 50 })).isSucc, 'the stop');
        // One that comes too late: connected, then closed; or not let in at all.
        const late = new WsClient(serviceProto, { server });
        let code;
        const { onClose } = late._wsp.options;
        late._wsp.options.onClose = (c, reason) => { code = c; onClose(c, reason); };
        await late.connect();
        await until(() => code, 'the end of the late connection');
        same(code, 1012, 'its close code');
        // On one port with HTTP, a request that comes too late gets 503. Its body is empty, as published, so
        // the client waits until its own time-out.
        if (!published) {
          same((await fetch(`${http}/Add`, { method: 'POST', body: '{}' })).status, 503, 'the status of a late request');
          const late = new HttpClient(serviceProto, { server: http, json: true, timeout: 300 });
          same((await late.callApi('Add', { a: 1, b: 2 })).isSucc, false, 'a late call');
        }
        for (const call of calls) same(await call, { isSucc: true, res: {} });
        await until(() => clients.every((client) => client.end.code), 'the close');
        for (const client of clients) same(client.end, stopped);
        await refused();
      } },
    ],
  };

  /** Waits until the server has begun with what these clients asked before: it reads in order. */
  async function begun(clients) {
    for (const client of clients) {
      same(await client.callApi('Add', { a: 1, b: 2 }), { isSucc: true, res: { sum: 3 } }, 'a call behind');
    }
  }

  /** Waits until nobody listens there any more. */
  async function refused() {
    for (let tries = 0; tries < 100; tries += 1) {
      const client = new WsClient(serviceProto, { server });
      const { isSucc, errMsg } = await client.connect();
      if (!isSucc) return same(errMsg, `Failed to connect to WebSocket server: ${server}`);
      await sleep(20);
    }
    throw new Error('somebody still listens');
  }
}
