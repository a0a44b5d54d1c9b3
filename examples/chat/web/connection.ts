// The connection to the chat service. `tsrpc-browser` connects once and leaves
// coming back to the application; this is that part.

import { WsClient } from 'tsrpc-browser';
import { serviceProto, type ServiceType } from './serviceProto';

/** Waits between attempts, in ms; the last one repeats. */
const WAITS = [250, 500, 1_000, 2_000, 4_000, 8_000];

/** `lost` lasts over all attempts until one succeeds. */
export type State = 'connecting' | 'connected' | 'lost';

export type Client = WsClient<ServiceType>;

/** A client for the server that the page came from. Binary, unless `?json` asks for frames that a person can read. */
export function createClient(): Client {
  const server = new URL('.', location.href);
  server.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  server.search = '';
  server.hash = '';
  return new WsClient(serviceProto, {
    server: server.href,
    json: new URLSearchParams(location.search).has('json'),
    heartbeat: { interval: 5_000, timeout: 5_000 },
  });
}

/** Connects, and again whenever the connection is lost. Tells every change of state. */
export function keepConnected(client: Client, tell: (now: State, before: State) => void): void {
  let state: State = 'connecting';
  let attempts = 0;
  let timer: number | undefined;

  function change(to: State): void {
    if (to === state) return;
    tell(to, state);
    state = to;
  }

  async function attempt(): Promise<void> {
    timer = undefined;
    const { isSucc } = await client.connect();
    if (!isSucc) return retryLater();
    attempts = 0;
    change('connected');
  }

  function retryLater(): void {
    change('lost');
    const wait = WAITS[Math.min(attempts, WAITS.length - 1)]!;
    attempts += 1;
    // Not all pages at the same moment: a server that restarts has them all to take back.
    timer = setTimeout(attempt, wait * (0.75 + Math.random() / 2));
  }

  function retryNow(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    void attempt();
  }

  client.flows.postDisconnectFlow.push((v) => {
    retryLater();
    return v;
  });
  addEventListener('online', retryNow);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') retryNow();
  });
  void attempt();
}
