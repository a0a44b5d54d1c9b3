// A long-lived process around npm `tsbuffer`: one JSON line in, one JSON line out.
//
//   in   a job, or an array of jobs
//        job   {proto, schemaId, options?, objectIdClass?, op, …operand}
//          or  {proto, schemaId, options?, objectIdClass?, calls: [{op, …operand}, …]}
//        op, operand
//              validate    value              prune       value
//              encode      value              decode      hex
//              encodeJSON  value              decodeJSON  jsonText (null = undefined)
//        options       {excessPropertyChecks?, strictNullChecks?}
//        objectIdClass 'ObjectId' (default), 'String' or 'none'
//   out  per call
//        {ok: true}  {ok: true, value}  {ok: true, hex}  {ok: true, jsonText}
//        {ok: false, error, phase?}     refused
//        {ok: false, stringifyError}    encoded, but JSON.stringify threw
//        {threw: message}               the library threw instead of answering
//
// A call with `mended: true` also goes through a copy of the package with its known defects
// mended (lib/mended.mjs). Its answer is {published, mended, by}: what the package says, what
// the copy says, and in words which mends that takes.
//
// Values are in the notation of the vector files. A binary decode that fails
// validation has no error text in the published package (`error: null`); then
// `unvalidated` is the decoded value and `validateMessage` what validation says.
//
// Calls on a proto with an `Overwrite` have a TSBuffer each: the published package
// keeps state between calls (a `Partial<Overwrite<…>>` changes other types for good).

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { ObjectId } from 'bson';
import { MENDS, mendedPackage } from './lib/mended.mjs';
import { bytesOf, fromNotation, toNotation } from './lib/notation.mjs';

const require = createRequire(import.meta.url);
const { TSBuffer } = require('tsbuffer');
const { getCustomObjectIdTypes } = require('tsrpc-base-client');

const CUSTOM_TYPES = {
  ObjectId: getCustomObjectIdTypes(ObjectId),
  String: getCustomObjectIdTypes(String),
  none: {},
};

let mended;

/** Answers one job: one result for `op`, an array of them for `calls`. */
export function run(job) {
  const { proto, options, objectIdClass = 'ObjectId' } = job;
  const make = () => new TSBuffer({ ...proto, ...CUSTOM_TYPES[objectIdClass] }, options);
  const shared = hasOverwrite(proto) ? undefined : make();
  const plainly = (call) => answer(() => shared ?? make(), job.schemaId, call);
  const one = (call) => (call.mended ? { published: plainly(call), ...answerMended(job, call) } : plainly(call));
  return job.calls ? job.calls.map(one) : one(job);
}

/** What the copy with all mends says, and the one mend or those several that it takes. */
function answerMended({ proto, options, objectIdClass = 'ObjectId', schemaId }, call) {
  mended ??= mendedPackage();
  const make = () => new mended.TSBuffer({ ...proto, ...CUSTOM_TYPES[objectIdClass] }, options);
  const by = (names) => mended.using(names, () => answer(make, schemaId, call));
  const all = Object.keys(MENDS);
  const whole = by(all);
  const isWhole = (names) => isDeepStrictEqual(by(names), whole);
  const alone = all.find((name) => isWhole([name]));
  const needed = alone ? [alone] : all.filter((name) => !isWhole(all.filter((other) => other !== name)));
  return { mended: whole, by: needed.map((name) => MENDS[name]).join(' + ') || 'several' };
}

function hasOverwrite(type) {
  return typeof type === 'object' && type !== null && (type.type === 'Overwrite' || Object.values(type).some(hasOverwrite));
}

function answer(tsbuffer, schemaId, call) {
  try {
    return perform(tsbuffer(), schemaId, call);
  } catch (error) {
    return { threw: text(error instanceof Error ? error.message : String(error)) };
  }
}

function perform(tsbuffer, schemaId, call) {
  switch (call.op) {
    case 'validate': {
      const result = tsbuffer.validate(fromNotation(call.value), schemaId);
      return result.isSucc ? { ok: true } : { ok: false, error: text(result.errMsg) };
    }
    case 'prune': {
      const result = tsbuffer.prune(fromNotation(call.value), schemaId);
      return result.isSucc ? { ok: true, value: toNotation(result.pruneOutput) } : { ok: false, error: text(result.errMsg) };
    }
    case 'encode': {
      const result = tsbuffer.encode(fromNotation(call.value), schemaId);
      return result.isSucc ? { ok: true, hex: Buffer.from(result.buf).toString('hex') } : { ok: false, error: text(result.errMsg) };
    }
    case 'decode': return decode(tsbuffer, bytesOf(call.hex), schemaId);
    case 'encodeJSON': {
      const result = tsbuffer.encodeJSON(fromNotation(call.value), schemaId);
      return result.isSucc ? stringify(result.json) : { ok: false, error: text(result.errMsg) };
    }
    case 'decodeJSON': {
      const json = call.jsonText === null ? undefined : JSON.parse(call.jsonText);
      const result = tsbuffer.decodeJSON(json, schemaId);
      if (result.isSucc) return { ok: true, value: toNotation(result.value) };
      return { ok: false, phase: result.errPhase, error: text(result.errMsg) };
    }
    default: throw new TypeError(`Unknown op: ${call.op}`);
  }
}

function decode(tsbuffer, bytes, schemaId) {
  const result = tsbuffer.decode(bytes, schemaId);
  if (result.isSucc) return { ok: true, value: toNotation(result.value) };
  const refusal = { ok: false, phase: result.errPhase, error: text(result.errMsg) };
  if (result.errPhase !== 'validate') return refusal;
  const { value } = tsbuffer.decode(bytes, schemaId, { skipValidate: true });
  return { ...refusal, unvalidated: toNotation(value), validateMessage: text(result.errMsg ?? tsbuffer.validate(value, schemaId).errMsg) };
}

/** A text as others can read it: values in it may have lone surrogates. Null if it was lost. */
function text(message) {
  return message?.toWellFormed() ?? null;
}

function stringify(json) {
  try {
    return { ok: true, jsonText: JSON.stringify(json) ?? null };
  } catch (error) {
    return { ok: false, stringifyError: error.message };
  }
}

/** Answers one input line; a line that is no job is answered too, so that the caller never waits in vain. */
export function runLine(line) {
  try {
    const input = JSON.parse(line);
    return JSON.stringify(Array.isArray(input) ? input.map(run) : run(input));
  } catch (error) {
    return JSON.stringify({ threw: error.message });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line !== '' && !process.stdout.write(`${runLine(line)}\n`)) {
      await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
  }
}
