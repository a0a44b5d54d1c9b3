// Mends of `encodeJSON` and `decodeJSON`.

import { isPlain } from './validation.mjs';

/** A value that is not of the type of a member. */
class OtherType extends Error {}

/** A tuple with more elements than its type has, in the words of the validator. */
class LongTuple extends Error {
  path = [];

  constructor(found, allowed) {
    super();
    this.text = `Value has ${found} elements but schema allows only ${allowed}.`;
  }

  get message() {
    return this.path.length > 0 ? `Property \`${this.path.join('.')}\`: ${this.text}` : this.text;
  }
}

/** Which forms of a value a conversion takes. */
const ANY_FORM = 0;
/** Those of the type. */
const OF_TYPE = 1;
/** Those of the type that an encoder can have written. */
const WRITTEN = 2;

export function mendJson(encoder, decoder, on) {
  mendEncoding(encoder, on);
  mendDecoding(decoder, on);
}

// "encodeJSON of Overwrite: target's types → overwrite's types"; "JSON unions: sequential
// conversion → try members one by one".
function mendEncoding(encoder, on) {
  const { encodeJSON } = encoder;
  encoder.encodeJSON = function (value, schema) {
    const helper = this._validator.protoHelper;
    // An element beyond the tuple that another member has it in.
    if (on('jsonMembers') && schema === undefined) return value;
    if (on('overwritten') && isMapped(schema) && helper.parseMappedType(schema).type === 'Interface') {
      return encodeJSON.call(this, value, helper.getFlatInterfaceSchema(schema));
    }
    if (on('jsonMembers') && typeof value === 'object' && value !== null) {
      const { members } = membersOf(helper, schema);
      if (members) return members.map(({ type }) => this.encodeJSON(value, type)).reduce((all, one) => both(value, all, one), value);
      if (schema.type === 'Custom' && !schema.validate(value).isSucc) return value;
      if (schema.type === 'Buffer' && bytesOf(value)) return base64(value);
    }
    return encodeJSON.call(this, value, schema);
  };
}

// The same for decoding; "a tuple longer than its schema crashes → refuse"; and an id made of
// a number, which is made of that time and random bytes.
function mendDecoding(decoder, on) {
  const { decodeJSON: published } = decoder;
  decoder.form = ANY_FORM;
  decoder.decodeJSON = function (json, schema) {
    if (!on('jsonMembers') && !on('longTuples') && !on('ids')) return published.call(this, json, schema);
    if (json === null || this.isCompatible(schema)) return json;
    const helper = this._validator.protoHelper;
    const { type, members } = membersOf(helper, schema);
    if (members && on('jsonMembers')) return this.decodeMembers(json, type, members);
    if (members) return members.reduce((value, member) => this.decodeJSON(value, member.type), json);
    if (helper.isTypeReference(schema)) return this.decodeJSON(json, helper.parseReference(schema));
    if (schema.type === 'NonNullable') return this.decodeJSON(json, schema.target);
    if (schema.type === 'Array' && Array.isArray(json)) return json.map((part, at) => this.decodePart(part, schema.elementType, at));
    if (schema.type === 'Tuple' && Array.isArray(json)) return this.decodeTuple(json, schema.elementTypes);
    if ((schema.type === 'Interface' || isMapped(schema)) && isPlain(json)) return this.decodeObject(json, helper.getFlatInterfaceSchema(schema));
    return typeof json === 'object' && schema.type !== 'Custom' ? json : this.decodeForm(json, schema);
  };
  // Found out by the published code, which notes it on the schema.
  decoder.isCompatible = function (schema) {
    try {
      if (schema.isJsonDecodable === undefined) published.call(this, true, schema);
    } catch {
      // What a custom type says of `true`.
    }
    return schema.isJsonDecodable;
  };
  decoder.decodePart = function (json, schema, key) {
    try {
      return this.decodeJSON(json, schema);
    } catch (error) {
      if (error instanceof LongTuple) error.path.unshift(key);
      throw error;
    }
  };
  decoder.decodeTuple = function (json, types) {
    if (json.slice(types.length).some((element) => element !== null)) {
      this.refuse();
      if (on('longTuples')) throw new LongTuple(json.length, types.length);
    }
    return json.map((part, at) => this.decodePart(part, types[at], at));
  };
  decoder.decodeObject = function (json, { properties, indexSignature }) {
    const output = { ...json };
    for (const key of Object.keys(json)) {
      const { type } = properties.find(({ name }) => name === key) ?? indexSignature ?? {};
      if (type) output[key] = this.decodePart(json[key], type, key);
    }
    return output;
  };
  decoder.decodeMembers = function (json, type, members) {
    const all = () => members.map((member) => this.decodeJSON(json, member.type)).reduce((value, one) => both(json, value, one), json);
    if (type === 'Intersection') return all();
    for (const form of this.form === WRITTEN ? [WRITTEN] : [WRITTEN, OF_TYPE]) {
      const matching = members.map((member) => this.asMember(json, member.type, form)).filter(Boolean);
      if (matching.length > 0) return matching.reduce((value, one) => both(json, value, one.value), json);
    }
    this.refuse();
    return all();
  };
  // The value as one of the type, if it is.
  decoder.asMember = function (json, type, form) {
    const before = this.form;
    this.form = form;
    try {
      const value = this.decodeJSON(json, type);
      const verdict = this._validator.validate(value, type, { excessPropertyChecks: false });
      return verdict.isSucc ? { value } : undefined;
    } catch (error) {
      if (error instanceof OtherType) return undefined;
      throw error;
    } finally {
      this.form = before;
    }
  };
  decoder.refuse = function () {
    if (this.form !== ANY_FORM) throw new OtherType();
  };
  // A text or number.
  decoder.decodeForm = function (json, schema) {
    let value;
    try {
      value = published.call(this, json, schema);
    } catch (error) {
      this.refuse();
      throw error;
    }
    if (schema.type === 'Custom' && typeof json === 'number' && on('ids')) value.id.fill(0, 4);
    if (this.form !== WRITTEN || value === json) return value;
    const isWritten = value instanceof Date ? !Number.isNaN(value.getTime()) : (value.toJSON?.() ?? base64(value)) === json;
    if (!isWritten) this.refuse();
    return value;
  };
}

function base64(value) {
  return Buffer.from(bytesOf(value)).toString('base64');
}

/** Two conversions of one value: what the first left alone, the second converts. */
function both(json, first, second) {
  if (first === json || Object.is(first, json)) return second;
  if (second === json || Object.is(second, json)) return first;
  if (Array.isArray(json) && Array.isArray(first) && Array.isArray(second)) {
    return first.map((part, at) => both(json[at], part, second[at]));
  }
  if (isPlain(json) && isPlain(first) && isPlain(second)) {
    return Object.fromEntries(Object.keys(first).map((key) => [key, both(json[key], first[key], second[key])]));
  }
  return first;
}

function isMapped(schema) {
  return ['Pick', 'Omit', 'Partial', 'Overwrite'].includes(schema.type);
}

/** The members of a union or intersection, also of one that a mapped type makes. */
function membersOf(helper, schema) {
  const parsed = isMapped(schema) ? helper.parseMappedType(schema) : schema;
  return parsed.type === 'Union' || parsed.type === 'Intersection' ? parsed : {};
}

function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
}
