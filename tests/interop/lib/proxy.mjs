// A TCP proxy that can be cut: what a page sees when its server goes away and
// comes back, without stopping the server.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Forwards a port of its own to `url`: `{url, cut(), restore(), stop()}`. */
export async function startProxy(url) {
  const target = new URL(url);
  const sockets = new Set();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [[near, far], [far, near]]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => { sockets.delete(socket); other.destroy(); });
    }
    near.pipe(far).pipe(near);
  });
  const listen = async (port) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server.address().port;
  };
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const port = await listen(0);
  return { url: `http://127.0.0.1:${port}`, cut, restore: () => listen(port), stop: cut };
}
