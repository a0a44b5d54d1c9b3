// API calls: the same over every transport and in both encodings.

import { ensure, same } from '../expect.mjs';

/** Past what one round trip takes, well below the server's API timeout. */
const PAUSE = 80;
const ID = '61531914435b997af15dc382';

const succeeded = (res) => ({ isSucc: true, res });
const failed = (message, type, code, rest) => ({ isSucc: false, err: { message, type, code, ...rest } });

/** What each mode of the `Err` API answers. */
const ERRORS = {
  api: failed('bad thing', 'ApiError'),
  code: failed('bad thing', 'ApiError', 'E_CODE'),
  intcode: failed('bad thing', 'ApiError', -5),
  throw: failed('Internal Server Error', 'ServerError', 'INTERNAL_ERR', { innerErr: 'boom' }),
  throwTsrpc: failed('tboom', 'ApiError', 'T', { foo: { x: 1 }, d: '1970-01-01T00:00:00.000Z' }),
  badres: failed('Internal Server Error', 'ServerError', 'INTERNAL_ERR', {
    innerErr: 'Property `ok`: Expected type to be `boolean`, actually `string`.',
  }),
  extra: succeeded({ ok: true }),
  twice: succeeded({ ok: true }),
};

/** Requests that `Echo` gives back as they are: [what, request, answer if it differs]. */
const ECHOES = [
  ['nothing', {}],
  ['empty string', { s: '' }],
  ['unicode', { s: '中文 éß 😀 \u0000\u001f"\\/\u2028 \ufeff' }],
  ['uint 0', { u: 0 }],
  ['uint 2^53-1', { u: Number.MAX_SAFE_INTEGER }],
  ['int -(2^53-1)', { i: Number.MIN_SAFE_INTEGER }],
  ['int -1', { i: -1 }],
  ['date', { d: new Date(1700000000123) }],
  ['date epoch', { d: new Date(0) }],
  ['date year 9999', { d: new Date(253402300799999) }],
  ['no bytes', { buf: new Uint8Array(0) }],
  ['all bytes', { buf: Uint8Array.from({ length: 256 }, (_, i) => i) }],
  ['any nested', { any: { a: [1, { b: null }], c: '中', d: -0.5e-7 } }],
  ['any string "undefined"', { any: 'undefined' }],
  ['any date becomes text', { any: { at: new Date(0) } }, { any: { at: '1970-01-01T00:00:00.000Z' } }],
  ['any keeps the order of integer keys', { any: { b: 1, 2: 'y', 10: 'x' } }],
  ['list', { list: [{ id: 1 }, { id: -0.25, name: 'n' }] }],
  ['empty list', { list: [] }],
  ['literal', { tag: 'b' }],
  ['null literal', { tag: null }],
  ['null for an optional string is dropped', { s: null, u: 1 }, { u: 1 }],
  ['excess fields are dropped, also in lists', { u: 1, zz: 2, list: [{ id: 1, secret: 's' }] }, { u: 1, list: [{ id: 1 }] }],
];

const NUMBERS = [
  [0.1, 0.2, 0.1 + 0.2],
  [-1e308, 1, -1e308],
  [5e-324, 0, 5e-324],
  [2 ** 53, 2, 2 ** 53 + 2],
  [1e21, 1, 1e21],
];

export function calls({ client: connect, release, json, objectIds }) {
  /** Runs `body` with a client of its own. */
  const using = (body, options) => async () => {
    const client = await connect(options);
    await body(client);
    await release(client);
  };

  return [
    ['numbers', using(async (client) => {
      for (const [a, b, sum] of NUMBERS) same(await client.callApi('Add', { a, b }), succeeded({ sum }), `${a} + ${b}`);
    })],

    ...ECHOES.map(([what, request, answer = request]) => [`echo ${what}`, using(async (client) => {
      same(await client.callApi('Echo', request), succeeded(answer));
    })]),

    ['echo any null, which JSON drops', using(async (client) => {
      same(await client.callApi('Echo', { any: null }), succeeded(json ? {} : { any: null }));
    })],

    ...objectIds.map(({ name, options, make }) => [`echo ObjectId as ${name}`, using(async (client) => {
      same(await client.callApi('Echo', { id: make(ID) }), succeeded({ id: make(ID) }));
    }, options)]),

    ...Object.entries(ERRORS).map(([mode, answer]) => [`error ${mode}`, using(async (client) => {
      same(await client.callApi('Err', { mode }), answer);
      same(await client.callApi('Add', { a: 1, b: 2 }), succeeded({ sum: 3 }), 'the next call');
    })]),

    ['API without handler', using(async (client) => {
      const answer = failed('Unhandled API: user/Login', 'ServerError', 'UNHANDLED_API');
      same(await client.callApi('user/Login', { username: 'u', password: 'p' }), answer);
    })],

    ['handler over the API timeout', using(async (client) => {
      same(await client.callApi('Slow', { ms: 1_000 }), failed('Server Timeout', 'ServerError', 'SERVER_TIMEOUT'));
    })],

    ['handler that never answers', using(async (client) => {
      const { isSucc } = await client.callApi('Err', { mode: 'none' }, { timeout: 500 });
      same(isSucc, false);
    })],

    ['client timeout; the late reply disturbs nobody', using(async (client) => {
      const { isSucc, err } = await client.callApi('Slow', { ms: 2 * PAUSE }, { timeout: PAUSE / 2 });
      ensure(!isSucc && err.type === 'NetworkError' && ['TIMEOUT', 'ECONNABORTED'].includes(err.code), `got ${err?.code}`);
      same(await client.callApi('Add', { a: 1, b: 2 }), succeeded({ sum: 3 }), 'before the late reply');
      // Begun later than the call that is late, and as long: its answer comes behind the late one.
      same(await client.callApi('Slow', { ms: 2 * PAUSE }), succeeded({}), 'a call as slow');
      same(await client.callApi('Add', { a: 3, b: 4 }), succeeded({ sum: 7 }), 'after the late reply');
    })],

    ['aborted call; others go on', using(async (client) => {
      let settled = false;
      client.callApi('Slow', { ms: PAUSE }).then(() => { settled = true; });
      const sn = client.lastSN;
      const other = client.callApi('Slow', { ms: PAUSE, extra: 'x' });
      client.abort(sn);
      same(await other, succeeded({}));
      // Begun later than the aborted call, and as long.
      same(await client.callApi('Slow', { ms: PAUSE }), succeeded({}), 'a call as slow');
      ensure(!settled, 'an aborted call settled');
      same(await client.callApi('Add', { a: 1, b: 2 }), succeeded({ sum: 3 }), 'the next call');
    })],

    ['500 calls in flight, each gets its own answer', using(async (client) => {
      const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => client.callApi('Add', { a: i, b: 0.5 })));
      for (const [i, answer] of answers.entries()) same(answer, succeeded({ sum: i + 0.5 }), `call ${i}`);
    })],

    ['a slow call does not hold up a fast one', using(async (client) => {
      const order = [];
      const slow = client.callApi('Slow', { ms: 2 * PAUSE }).then((ret) => { order.push('slow'); return ret; });
      const fast = client.callApi('Add', { a: 1, b: 2 }).then((ret) => { order.push('fast'); return ret; });
      same(await Promise.all([slow, fast]), [succeeded({}), succeeded({ sum: 3 })]);
      same(order, ['fast', 'slow']);
    })],

    ['4 MiB of bytes', using(async (client) => {
      const buf = Uint8Array.from({ length: 4 << 20 }, (_, i) => (i * 31) >> 3);
      const { isSucc, res } = await client.callApi('Echo', { buf });
      ensure(isSucc, 'refused');
      same(res.buf.length, buf.length, 'length');
      ensure(res.buf.every((byte, i) => byte === buf[i]), 'other bytes');
    })],

    ['a million characters, 1 to 4 bytes each', using(async (client) => {
      const s = 'aß中😀'.repeat(200_000);
      const { isSucc, res } = await client.callApi('Echo', { s });
      ensure(isSucc && res.s === s, 'another text came back');
    })],

    ['frames around the WebSocket length boundaries', using(async (client) => {
      for (const length of [0, 100, 110, 120, 125, 126, 127, 65_500, 65_520, 65_535, 65_536, 65_537]) {
        const s = 'x'.repeat(length);
        same(await client.callApi('Echo', { s }), succeeded({ s }), `${length} characters`);
      }
    })],

    ['errors that the client finds itself', using(async (client) => {
      same(await client.callApi('Nope', {}), failed('Invalid api name: Nope', 'ClientError', 'INVALID_API_NAME'));
      const text = 'Property `b`: Expected type to be `number`, actually `string`.';
      same(await client.callApi('Add', { a: 1, b: '2' }), failed(text, 'ClientError', 'INPUT_DATA_ERR'));
      const { isSucc, err } = await client.sendMsg('Nope', {});
      same([isSucc, err.message, err.code], [false, 'Invalid msg name: Nope', 'INVALID_MSG_NAME']);
    })],

    ['message is accepted', using(async (client) => {
      same(await client.sendMsg('Chat', { content: 'hi', time: new Date(0) }), { isSucc: true });
      same(await client.sendMsg('user/Join', { uid: 7 }), { isSucc: true });
      same(await client.callApi('Add', { a: 1, b: 2 }), succeeded({ sum: 3 }), 'the next call');
    })],
  ];
}
