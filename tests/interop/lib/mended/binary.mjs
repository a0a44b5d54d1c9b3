// Mends of the binary encoder and decoder.

import { isPlain, isResolved } from './validation.mjs';

/** The latest and earliest time of a Date. */
const MAX_TIME = 8.64e15;

export function mendBinary(encoder, decoder, on) {
  mendInterfaces(encoder, on);
  mendFilters(encoder, on);
  mendDates(decoder, on);
  mendNulls(decoder, on);
  mendMembers(decoder, on);
}

// What the encoder has taken (it checks without excess), the decoder takes.
export function mendReading(tsbuffer, on) {
  const { decode } = tsbuffer;
  tsbuffer.decode = function (bytes, id, options) {
    if (!on('readExcess') || options?.skipValidate) return decode.call(this, bytes, id, options);
    const read = decode.call(this, bytes, id, { skipValidate: true });
    if (!read.isSucc) return read;
    const verdict = this.validate(read.value, id, { excessPropertyChecks: false });
    return verdict.isSucc ? read : { isSucc: false, errMsg: verdict.errMsg, errPhase: 'validate' };
  };
}

// As published but for three lines: a base that is a mapped type is written as one, names
// that an Omit leaves out are not taken for written, and methods are no entries.
function mendInterfaces(encoder, on) {
  const { _writeInterface } = encoder;
  encoder._writeInterface = function (value, schema, options = {}) {
    if (!on('mappedBases') && !on('filters') && !on('dateMethod')) return _writeInterface.call(this, value, schema, options);
    options.skipFields ??= {};
    const helper = this._validator.protoHelper;
    const start = this._writer.ops.length;
    const varint = this._writer.req2op.bind(this._writer);
    let blocks = 0;
    const push = (id) => {
      this._writer.push({ type: 'varint', value: this.varint(id) });
      return this._writer.ops.length - 1;
    };
    if ((schema.extends?.length ?? 0) > 9) throw new Error(`Max support 9 extends, actual: ${schema.extends.length}`);
    for (const { id, type } of schema.extends ?? []) {
      const at = push(id + 1);
      const base = helper.parseReference(type);
      const inner = { ...options, skipIndexSignature: !!schema.indexSignature || options.skipIndexSignature };
      const isMapped = on('mappedBases') && base.type !== 'Interface';
      if (isMapped) this._writePureMappedType(value, base, inner);
      else this._writeInterface(value, base, inner);
      // A base with nothing to say consists of the counts of its blocks, which are 0.
      const counts = this._writer.ops.slice(at + 1);
      if (counts.every((op) => op.type === 'varint' && op.value.toNumber() === 0) && counts.length === this.countsOf(base)) {
        this._writer.ops.splice(at);
      } else {
        blocks += 1;
        this._processIdWithLengthType(at, type);
      }
    }
    for (const { id, name, type } of schema.properties ?? []) {
      const parsed = helper.parseReference(type);
      if (options.pickFields && !options.pickFields[name]) continue;
      if (options.omitFields?.includes(name)) continue;
      if (parsed.type === 'Literal') {
        options.skipFields[name] = 1;
        continue;
      }
      if (value[name] === undefined || this._nullAsUndefined(value[name], type) || options.skipFields[name]) continue;
      options.skipFields[name] = 1;
      const at = push(id + 10);
      this._write(value[name], parsed);
      blocks += 1;
      this._processIdWithLengthType(at, parsed);
    }
    const index = options.skipIndexSignature ? undefined : helper.getFlatInterfaceSchema(schema).indexSignature;
    if (index) {
      for (const key in value) {
        if (value[key] === undefined || this._nullAsUndefined(value[key], index.type)) continue;
        if (options.pickFields && !options.pickFields[key]) continue;
        if (options.omitFields?.includes(key) || options.skipFields[key]) continue;
        if (on('dateMethod') && typeof value[key] === 'function') continue;
        options.skipFields[key] = 1;
        const at = push(0);
        this._writer.push({ type: 'string', value: key });
        const prefixAt = this._writer.ops.length;
        this._write(value[key], index.type);
        blocks += 1;
        this._processIdWithLengthType(at, index.type, prefixAt);
      }
    }
    this._writer.ops.splice(start, 0, varint({ type: 'varint', value: this.varint(blocks) }));
  };
  // The class of varints, by the only way that leads there.
  encoder.varint = function (number) {
    this.Varint ??= classOfVarints(this);
    return this.Varint.from(number);
  };
  // An Overwrite consists of two interfaces.
  encoder.countsOf = function (schema) {
    const helper = this._validator.protoHelper;
    const type = helper.parseReference(schema);
    if (type.type === 'Interface') return 1;
    return this.countsOf(type.target) + (type.type === 'Overwrite' ? this.countsOf(type.overwrite) : 0);
  };
}

function classOfVarints(encoder) {
  const { ops } = encoder._writer;
  encoder._writer.clear();
  encoder._write([], { type: 'Array', elementType: { type: 'Any' } });
  const { constructor } = encoder._writer.ops[0].value;
  encoder._writer._ops = ops;
  return constructor;
}

// "`Overwrite<A, Pick<B, k>>`: fields of A lost → drop the pick set before the target
// block", and likewise wherever what a Pick or Omit leaves out would outlive it.
function mendFilters(encoder, on) {
  const { _writePureMappedType } = encoder;
  encoder._writePureMappedType = function (value, schema, options = {}) {
    if (!on('filters')) return _writePureMappedType.call(this, value, schema, options);
    options.skipFields ??= {};
    const inner = { ...options };
    if (schema.type === 'Pick') {
      const keys = schema.keys.filter((key) => !options.pickFields || options.pickFields[key]);
      inner.pickFields = Object.fromEntries(keys.map((key) => [key, 1]));
    } else if (schema.type === 'Omit') {
      inner.omitFields = [...(options.omitFields ?? []), ...schema.keys];
    } else if (schema.type === 'Overwrite') {
      const { overwrite, overwriteValue } = this._parseOverwrite(value, schema);
      this._write(overwriteValue, overwrite, { ...options });
    }
    const target = this._validator.protoHelper.parseReference(schema.target);
    if (target.type === 'Interface') this._writeInterface(value, target, inner);
    else this._writePureMappedType(value, target, inner);
  };
}

// "Negative Date: decode as signed when the unsigned value exceeds 8.64e15".
function mendDates(decoder, on) {
  const { _read } = decoder;
  decoder._read = function (schema) {
    if (!on('dates') || schema.type !== 'Date') return _read.call(this, schema);
    const varint = this._reader.readVarint();
    const time = varint.toNumber(true);
    return new Date(time > MAX_TIME ? varint.toNumber(false) : time);
  };
}

// What may be null by its name only is null where it was not written, as in the type itself.
function mendNulls(decoder, on) {
  const { _undefinedAsNull } = decoder;
  decoder._undefinedAsNull = function (value, type, isOptional) {
    const published = _undefinedAsNull.call(this, value, type, isOptional);
    // A union calls it with two arguments, and knows no more than its members say.
    if (published || !on('nullableByName') || arguments.length < 3 || value !== undefined || !this._options.undefinedAsNull || isOptional) return published;
    const helper = this._validator.protoHelper;
    return !canBeUndefined(type) && isResolved(helper, type, null) && !isResolved(helper, type, undefined);
  };
}

function canBeUndefined(schema) {
  if (schema.type === 'Union') return schema.members.some((member) => canBeUndefined(member.type));
  return schema.type === 'Any' || (schema.type === 'Literal' && schema.literal === undefined);
}

// Parts of one value are put together: those of an intersection all the way down; null says
// nothing; a date, bytes or an id stays what it is beside a part that sees an object.
function mendMembers(decoder, on) {
  const { _readUnionOrIntersection, _readInterface } = decoder;
  decoder._readUnionOrIntersection = function (schema) {
    if (!on('members')) return _readUnionOrIntersection.call(this, schema);
    let output;
    const count = this._reader.readUint();
    for (let i = 0; i < count; i += 1) {
      const tag = this._reader.readUint();
      const member = schema.members.find(({ id }) => id === tag >> 2);
      if (!member) {
        this._reader.skipByLengthType(tag & 3);
        continue;
      }
      this._skipIdLengthPrefix(this._validator.protoHelper.parseReference(member.type));
      output = merge(output, this._read(member.type), schema.type === 'Intersection');
    }
    return this._undefinedAsNull(output, schema) ? null : output;
  };
  decoder._readInterface = function (schema) {
    if (!on('members') || !schema.extends?.length) return _readInterface.call(this, schema);
    const helper = this._validator.protoHelper;
    const flat = helper.getFlatInterfaceSchema(schema);
    const read = (type) => {
      this._skipIdLengthPrefix(helper.parseReference(type));
      return this._read(type);
    };
    const output = {};
    const count = this._reader.readUint();
    for (let i = 0; i < count; i += 1) {
      const tag = this._reader.readUint();
      const block = tag >> 2;
      if (block === 0 && flat.indexSignature) {
        const key = this._reader.readString();
        output[key] = read(flat.indexSignature.type);
        continue;
      }
      if (block === 0) this._reader.skipByLengthType(0);
      const base = block > 0 && block <= 9 && schema.extends.find(({ id }) => id === block - 1);
      const property = block > 9 && schema.properties?.find(({ id }) => id === block - 10);
      if (base) mergeObjects(output, read(base.type), false);
      else if (property) output[property.name] = read(property.type);
      else this._reader.skipByLengthType(tag & 3);
    }
    for (const { name, type, optional } of flat.properties) {
      if (Object.hasOwn(output, name)) continue;
      const parsed = helper.parseReference(type);
      if (parsed.type === 'Literal') output[name] = parsed.literal;
      else if (this._undefinedAsNull(undefined, parsed, optional)) output[name] = null;
    }
    return output;
  };
}

function merge(value, more, isDeep) {
  if (isPlain(value) && isPlain(more)) return mergeObjects(value, more, isDeep);
  if (Array.isArray(value) && Array.isArray(more)) {
    more.forEach((part, at) => { value[at] = at < value.length ? mergeProperty(value[at], part, isDeep) : part; });
    return value;
  }
  if (isSpecial(value) && isObject(more)) return value;
  return isObject(value) && isObject(more) && !isSpecial(more) ? value : more;
}

function mergeObjects(value, more, isDeep) {
  for (const key of Object.keys(more ?? {})) {
    value[key] = Object.hasOwn(value, key) ? mergeProperty(value[key], more[key], isDeep) : more[key];
  }
  return value;
}

function mergeProperty(value, more, isDeep) {
  if (value === undefined || value === null) return more;
  if (more === null) return value;
  const bothObjects = (isPlain(value) && isPlain(more)) || (Array.isArray(value) && Array.isArray(more));
  if (isDeep && bothObjects) return merge(value, more, isDeep);
  return isDeep && isSpecial(value) && (isPlain(more) || typeof more === 'string') ? value : more;
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}

function isSpecial(value) {
  return isObject(value) && !isPlain(value) && !Array.isArray(value);
}
