// What only the short connection has.

import { same } from '../expect.mjs';

export function httpOnly({ client: connect, http, json }) {
  return [
    ['address with a trailing slash', async () => {
      const client = await connect({ server: `${http}/` });
      same(await client.callApi('Add', { a: 1, b: 2 }), { isSucc: true, res: { sum: 3 } });
    }],

    ['input errors carry their text', async () => {
      const client = await connect();
      // The client would find the error itself; a flow puts a bad body in its place.
      client.flows.preSendDataFlow.push((v) => ({ ...v, data: json ? '{"a":1,"b":"2"}' : new Uint8Array([1, 2, 3]) }));
      const message = json
        ? 'Property `b`: Expected type to be `number`, actually `string`.'
        : 'Invalid request buffer, please check the version of service proto.';
      same(await client.callApi('Add', { a: 1, b: 2 }), {
        isSucc: false,
        err: { message, type: 'ServerError', code: 'INPUT_DATA_ERR' },
      });
    }],

    ['100 clients at once', async () => {
      const answers = await Promise.all(Array.from({ length: 100 }, async (_, i) => {
        const client = await connect();
        return client.callApi('Add', { a: i, b: 1 });
      }));
      for (const [i, answer] of answers.entries()) same(answer, { isSucc: true, res: { sum: i + 1 } }, `client ${i}`);
    }],
  ];
}
