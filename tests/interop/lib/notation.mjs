// The value notation of the vector files: plain JSON, except that an object
// whose only key is `$` stands for what JSON has no form for.
//
//   {"$":"undefined"}                          {"$":"bigint","v":"1"}
//   {"$":"number","v":"NaN|Infinity|-Infinity|-0"}
//   {"$":"utf16","units":[55296]}              a string with lone surrogates
//   {"$":"Date","ms":123}                      null = an invalid date
//   {"$":"Uint8Array","hex":"00ff"}            and ArrayBuffer, Int8Array, …
//   {"$":"ObjectId","hex":"24 digits"}         {"$":"object","v":{…}}  an object that has a key `$`

import { ObjectId } from 'bson';

const TYPED_ARRAYS = {
  Int8Array, Int16Array, Int32Array, BigInt64Array,
  Uint8Array, Uint16Array, Uint32Array, BigUint64Array,
  Float32Array, Float64Array,
};

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** The JavaScript value that `note` stands for. */
export function fromNotation(note) {
  if (note === null || typeof note !== 'object') return note;
  if (Array.isArray(note)) return note.map(fromNotation);
  if (!Object.hasOwn(note, '$')) return mapObject(note, fromNotation);
  switch (note.$) {
    case 'undefined': return undefined;
    case 'bigint': return BigInt(note.v);
    case 'number': return Number(note.v);
    case 'utf16': return String.fromCharCode(...note.units);
    case 'Date': return new Date(note.ms ?? NaN);
    case 'ObjectId': return new ObjectId(note.hex);
    case 'object': return mapObject(note.v, fromNotation);
    case 'ArrayBuffer': return bytesOf(note.hex).buffer;
  }
  const Class = TYPED_ARRAYS[note.$];
  if (!Class) throw new TypeError(`Unknown value notation: ${JSON.stringify(note)}`);
  return new Class(bytesOf(note.hex).buffer);
}

/** The notation of a JavaScript value. */
export function toNotation(value) {
  switch (typeof value) {
    case 'undefined': return { $: 'undefined' };
    case 'bigint': return { $: 'bigint', v: value.toString() };
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { $: 'number', v: Object.is(value, -0) ? '-0' : String(value) };
    case 'string':
      if (!LONE_SURROGATE.test(value)) return value;
      return { $: 'utf16', units: Array.from({ length: value.length }, (_, i) => value.charCodeAt(i)) };
    case 'boolean': return value;
    case 'object': break;
    default: throw new TypeError(`No notation for a ${typeof value}`);
  }
  if (value === null) return null;
  if (Array.isArray(value)) return Array.from(value, toNotation);
  if (value instanceof Date) {
    const ms = value.getTime();
    return { $: 'Date', ms: Number.isNaN(ms) ? null : ms };
  }
  if (value instanceof ArrayBuffer) return { $: 'ArrayBuffer', hex: Buffer.from(value).toString('hex') };
  if (ArrayBuffer.isView(value)) {
    const name = Buffer.isBuffer(value) ? 'Uint8Array' : value.constructor.name;
    const hex = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
    return { $: name, hex };
  }
  if (value instanceof ObjectId) return { $: 'ObjectId', hex: value.toHexString() };
  const object = mapObject(value, toNotation);
  return Object.hasOwn(object, '$') ? { $: 'object', v: object } : object;
}

/** Bytes of a hex string, in an ArrayBuffer of exactly their size. */
export function bytesOf(hex) {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

// A key `__proto__` must become a property, not the prototype.
function mapObject(object, map) {
  const out = {};
  for (const key of Object.keys(object)) {
    const value = map(object[key]);
    if (key === '__proto__') {
      Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true });
    } else {
      out[key] = value;
    }
  }
  return out;
}
