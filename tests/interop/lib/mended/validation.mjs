// Mends of `tsbuffer-validator`: what may be missing, what is excess, what pruning keeps.

/** What a type can be as it is written: unions are looked into, references are not followed. */
export function isWritten(schema, literal) {
  if (schema.type === 'Union') return schema.members.some((member) => isWritten(member.type, literal));
  return schema.type === 'Literal' && schema.literal === literal;
}

/** The same with references followed. */
export function isResolved(helper, schema, literal, within = []) {
  const resolved = helper.parseReference(schema);
  if (within.includes(resolved)) return false;
  if (resolved.type === 'Union') {
    return resolved.members.some((member) => isResolved(helper, member.type, literal, [...within, resolved]));
  }
  return resolved.type === 'Literal' && resolved.literal === literal;
}

export function mendValidation({ TSBufferValidator }, on) {
  mendNullableByName(TSBufferValidator.prototype, on);
  mendInnerUnions(TSBufferValidator.prototype, on);
  mendPruning(TSBufferValidator.prototype, on);
}

// "`type N = string | null` in a required property: null rejected → dereference". A
// type that may be left out as it is written is left as the package has it.
function mendNullableByName(validator, on) {
  const { _validateTupleType, _validateFlatInterface, _canBeNull, _canBeUndefined } = validator;
  const resolved = new WeakSet();
  const look = (self, schema, optional, strict) => {
    const may = (is) => is(undefined) || (!strict && is(null));
    const helper = self.protoHelper;
    const isWider = !optional && !may((literal) => isWritten(schema, literal)) && may((literal) => isResolved(helper, schema, literal));
    if (on('nullableByName') && isWider) resolved.add(schema);
    else resolved.delete(schema);
  };
  validator._validateTupleType = function (value, schema, options) {
    schema.elementTypes.forEach((type, at) => look(this, type, at >= (schema.optionalStartIndex ?? Infinity), options.strictNullChecks));
    return _validateTupleType.call(this, value, schema, options);
  };
  validator._validateFlatInterface = function (value, schema, options) {
    schema.properties.forEach(({ type, optional }) => look(this, type, optional, options.strictNullChecks));
    return _validateFlatInterface.call(this, value, schema, options);
  };
  validator._canBeNull = function (schema) {
    return resolved.has(schema) ? isResolved(this.protoHelper, schema, null) : _canBeNull.call(this, schema);
  };
  validator._canBeUndefined = function (schema) {
    return resolved.has(schema) ? isResolved(this.protoHelper, schema, undefined) : _canBeUndefined.call(this, schema);
  };
}

// "Allowed-property list leaking through arrays → recompute per union". What is allowed
// already stays allowed: the list of the union itself joins it.
function mendInnerUnions(validator, on) {
  for (const method of ['_validateUnionType', '_validateIntersectionType']) {
    const published = validator[method];
    validator[method] = function (value, schema, options) {
      if (on('innerUnions') && options.unionProperties) {
        const own = this.protoHelper.getUnionProperties(schema);
        // A signature of numbers would refuse keys that are accepted as things are.
        const joining = own.filter((name) => name !== '[[Number]]' && !options.unionProperties.includes(name));
        options = { ...options, unionProperties: [...options.unionProperties, ...joining] };
      }
      return published.call(this, value, schema, options);
    };
  }
}

// "Prune holes (arrays in unions; index signatures): secrets survive → prune properly".
function mendPruning(validator, on) {
  for (const method of ['_validateUnionType', '_validateIntersectionType']) {
    const published = validator[method];
    validator[method] = function (value, schema, options) {
      const { prune, ...others } = options;
      if (!on('pruning') || !prune || !Array.isArray(value)) return published.call(this, value, schema, options);
      const verdict = published.call(this, value, schema, { ...others, excessPropertyChecks: false });
      if (!verdict.isSucc) return verdict;
      const unionProperties = others.unionProperties ?? this.protoHelper.getUnionProperties(schema);
      for (const member of schema.members) {
        const own = {};
        const part = this._validate(value, this.protoHelper.parseReference(member.type), { ...others, unionProperties, prune: own });
        if (part.isSucc) prune.output = prune.output === undefined ? own.output : mergePruned(prune.output, own.output);
      }
      return verdict;
    };
  }
  const { _validateFlatInterface } = validator;
  validator._validateFlatInterface = function (value, schema, options) {
    if (!on('pruning') || !options.prune || !schema.indexSignature) return _validateFlatInterface.call(this, value, schema, options);
    const verdict = _validateFlatInterface.call(this, value, schema, options);
    if (!verdict.isSucc) return verdict;
    // What declared properties keep, the signature does not take over.
    const { indexSignature, ...declared } = { ...schema, properties: schema.properties.filter(({ id }) => id > -1) };
    const prune = {};
    _validateFlatInterface.call(this, value, declared, { ...options, prune });
    const pruned = prune.output;
    for (const [key, part] of Object.entries(options.prune.output)) if (!Object.hasOwn(pruned, key)) pruned[key] = part;
    options.prune.output = pruned;
    return verdict;
  };
  const { prune } = validator;
  validator.prune = function (value, schemaOrId, options) {
    const verdict = prune.call(this, value, schemaOrId, options);
    if (on('dateMethod') && verdict.isSucc) return { ...verdict, pruneOutput: withoutMethods(verdict.pruneOutput) };
    return verdict;
  };
}

function mergePruned(pruned, part) {
  if (Array.isArray(pruned) && Array.isArray(part)) {
    return Array.from({ length: Math.max(pruned.length, part.length) }, (_, at) => {
      if (at >= part.length) return pruned[at];
      return at < pruned.length ? mergePruned(pruned[at], part[at]) : part[at];
    });
  }
  return isPlain(pruned) && isPlain(part) ? { ...pruned, ...part } : part;
}

export function isPlain(value) {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function withoutMethods(value) {
  if (Array.isArray(value)) return value.map(withoutMethods);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, part]) => typeof part !== 'function').map(([key, part]) => [key, withoutMethods(part)]));
}
