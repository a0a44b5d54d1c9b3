// What the published clients must see of a server of the test service. The same
// checks run in Node (`client.mjs`) and in a browser page (`browser.mjs`), so
// nothing here may depend on either.
//
// `platform` says what differs:
//   HttpClient, WsClient, serviceProto   from `tsrpc` or `tsrpc-browser`
//   http, ws                             addresses of the server under test
//   objectIds                            [{name, options, make(hex)}]: how ids can be held
//   published                            true if the server is npm `tsrpc` with its known bugs
//
// Every entry is `{name, run}`; `run` throws where the server is wrong.

import { calls } from './calls.mjs';
import { httpOnly } from './http.mjs';
import { connections, messages } from './websocket.mjs';

/** All checks that leave the server running. */
export function checks(platform) {
  const list = [];
  const add = (group, entries) => {
    for (const [name, run] of entries) list.push({ name: `${group}: ${name}`, run });
  };
  for (const json of [false, true]) {
    const mode = json ? 'json' : 'binary';
    add(`http ${mode}`, calls({ ...platform, ...http(platform, json) }));
    add(`http ${mode}`, httpOnly({ ...platform, ...http(platform, json) }));
    add(`ws ${mode}`, calls({ ...platform, ...ws(platform, json) }));
    add(`ws ${mode}`, messages({ ...platform, ...ws(platform, json) }));
    add(`ws ${mode}`, connections({ ...platform, ...ws(platform, json) }));
  }
  return list;
}

// The published client logs some errors to the console if it has no logger.
const QUIET = { debug() {}, log() {}, warn() {}, error() {} };

// `client(options)` gives a connected client, `release` lets it go.

function http({ HttpClient, serviceProto, http: server }, json) {
  return {
    json,
    client: async (options) => new HttpClient(serviceProto, { server, json, logger: QUIET, ...options }),
    release: async () => {},
  };
}

function ws({ WsClient, serviceProto, ws: server }, json) {
  return {
    json,
    client: async (options) => {
      const client = new WsClient(serviceProto, { server, json, logger: QUIET, ...options });
      const connected = await client.connect();
      if (!connected.isSucc) throw new Error(connected.errMsg);
      return client;
    },
    release: (client) => client.disconnect(),
  };
}
