// A second copy of npm `tsbuffer` in which known defects can be mended one by one,
// each where it stands and as polywire mends it (the table of "what to keep and
// what to fix" in the reference). Where an answer of the package as published is
// not ours, that of this copy has to be: what a mend does not explain is a fault.
//
//   const { TSBuffer, using } = mendedPackage();
//   using(['dates'], () => new TSBuffer(proto, options).decode(bytes, id))

import { createRequire } from 'node:module';
import { mendBinary, mendReading } from './mended/binary.mjs';
import { mendJson } from './mended/json.mjs';
import { mendValidation } from './mended/validation.mjs';

const require = createRequire(import.meta.url);

/** What can be mended, what that means, and the known bug or row of the reference (§15) that it is about. */
export const MENDS = {
  nullableByName: 'what a type admits by its name may be left out (C3)',
  innerUnions: 'a union inside of an array declares what its own members declare (B11)',
  pruning: 'prune reaches arrays in unions and declared properties beside index signatures (C6, C7)',
  dateMethod: 'the method that a library adds to each Date is no entry of an index signature (texts of the engine)',
  dates: 'dates before 1970 are read as they were written (B7)',
  mappedBases: 'an interface writes what it inherits from a mapped type (B4)',
  filters: 'what Pick and Omit leave out, they leave out of their own target only (B5)',
  members: 'what members of a union or intersection say of one value is put together without loss (B10)',
  readExcess: 'what members of a union or intersection have written together is no excess to its reader (B11)',
  overwritten: 'JSON of an Overwrite is written by the overwriting types (C13)',
  jsonMembers: 'a member of a union converts only what is of it (C10, C11, C12)',
  longTuples: 'a tuple longer than its type is refused in words (B19)',
  ids: 'an id made of a number has zeros where the published one has random bytes (§7)',
};

/** The second copy, as published until it is used with mends. */
export function mendedPackage() {
  const { TSBuffer, validator } = secondCopy();
  let mends = new Set();
  const on = (mend) => mends.has(mend);
  const sample = new TSBuffer({}, {});
  mendValidation(validator, on);
  mendReading(TSBuffer.prototype, on);
  mendBinary(classOf(sample._encoder), classOf(sample._decoder), on);
  mendJson(classOf(sample._encoder), classOf(sample._decoder), on);
  const using = (names, act) => {
    mends = new Set(names);
    try {
      return act();
    } finally {
      mends = new Set();
    }
  };
  return { TSBuffer, using };
}

function classOf(object) {
  return Object.getPrototypeOf(object);
}

function secondCopy() {
  const paths = ['tsbuffer-validator', 'tsbuffer'].map((name) => require.resolve(name));
  const first = paths.map((path) => require.cache[path]);
  for (const path of paths) delete require.cache[path];
  const validator = require('tsbuffer-validator');
  const { TSBuffer } = require('tsbuffer');
  paths.forEach((path, at) => {
    if (first[at]) require.cache[path] = first[at];
  });
  return { TSBuffer, validator };
}
