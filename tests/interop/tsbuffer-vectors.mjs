// Replays the three TSBuffer vector files through the worker process, so that
// what the differential test compares against is known to be the published
// behaviour that the vectors record.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { same } from './lib/expect.mjs';
import { check, finish } from './lib/report.mjs';
import { vectors } from './lib/vectors.mjs';

const worker = spawn(process.execPath, [fileURLToPath(new URL('tsbuffer-worker.mjs', import.meta.url))], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const answers = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();

/** Results of the worker for `calls` on the schema and options of `vector`. */
async function ask({ proto, schemaId, options, objectIdClass }, ...calls) {
  worker.stdin.write(`${JSON.stringify({ proto, schemaId, options, objectIdClass, calls })}\n`);
  return JSON.parse((await answers.next()).value);
}

/** Equality of everything, the order of keys included. */
function identical(actual, expected, what) {
  same(actual, expected, what);
  same(JSON.stringify(actual), JSON.stringify(expected), `${what}, order of keys`);
}

/** A refusal as the vector files write it, in the worker's form. */
function refusal({ phase, errMsg, unvalidated, validateMessage }) {
  return {
    ok: false,
    ...(phase !== undefined && { phase }),
    error: errMsg,
    ...(validateMessage !== undefined && { unvalidated, validateMessage }),
  };
}

async function binary(vector) {
  if (vector.kind === 'encode_error') {
    const [encoded] = await ask(vector, { op: 'encode', value: vector.value });
    return same(encoded, vector.threw ? { threw: vector.error } : { ok: false, error: vector.error });
  }
  if (vector.kind === 'roundtrip') {
    const [encoded] = await ask(vector, { op: 'encode', value: vector.value });
    same(encoded, { ok: true, hex: vector.hex }, 'bytes');
  }
  const [decoded] = await ask(vector, { op: 'decode', hex: vector.hex });
  if (vector.decodeError) return identical(decoded, refusal(vector.decodeError), 'decoding');
  if ('decoded' in vector) return identical(decoded, { ok: true, value: vector.decoded }, 'decoded');
  // A round trip gives the value back, but keys in the order of the wire.
  same(decoded, { ok: true, value: vector.value }, 'decoded');
}

async function validation(vector) {
  const [validated, pruned] = await ask(
    vector,
    { op: 'validate', value: vector.value },
    { op: 'prune', value: vector.value },
  );
  identical(validated, verdict({ ...vector, isSucc: vector.valid }, { ok: true }), 'validation');
  identical(pruned, verdict(vector.prune, { ok: true, value: vector.prune.output }), 'pruning');
}

function verdict({ isSucc, errMsg, throws }, success) {
  if (throws !== undefined) return { threw: throws };
  return isSucc ? success : { ok: false, error: errMsg };
}

async function json(vector) {
  let { jsonText } = vector;
  if (vector.kind === 'encode') {
    const [encoded] = await ask(vector, { op: 'encodeJSON', value: vector.value });
    if (vector.stringifyError) return same(encoded, { ok: false, stringifyError: vector.stringifyError });
    if (vector.error) return same(encoded, { ok: false, error: vector.error });
    same(encoded, { ok: true, jsonText }, 'text');
  }
  const { decode } = vector;
  const [decoded] = await ask(vector, { op: 'decodeJSON', jsonText });
  if (vector.nondeterministic) return same(decoded.ok, decode.isSucc, 'verdict');
  if (decode.throws !== undefined) return identical(decoded, { threw: decode.throws }, 'decoding');
  identical(decoded, decode.isSucc ? { ok: true, value: decode.value } : refusal(decode), 'decoding');
}

const FILES = {
  'tsbuffer-binary-vectors.json': binary,
  'tsbuffer-validation-vectors.json': validation,
  'tsbuffer-json-vectors.json': json,
};

for (const [file, replay] of Object.entries(FILES)) {
  for (const vector of vectors(file)) await check(`${file}: ${vector.name}`, () => replay(vector));
}
worker.stdin.end();
finish();
