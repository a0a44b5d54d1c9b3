// Expectations, without anything of Node: the browser page uses them too.

/** Fails unless both sides are the same value; the message shows both, shortened. */
export function same(actual, expected, what = 'value') {
  const [got, wanted] = [show(actual), show(expected)];
  if (got !== wanted) throw new Error(`${what}: expected ${brief(wanted)}, got ${brief(got)}`);
}

/** Fails with `what` unless `condition` holds. */
export function ensure(condition, what) {
  if (!condition) throw new Error(what);
}

/** Waits until `condition()`, which may be async, holds (looks every few ms), for `limit` ms at most. */
export async function until(condition, what, limit = 5_000) {
  const deadline = performance.now() + limit;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${limit} ms`);
    await sleep(5);
  }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What `body` gives; an error if that takes more than `limit` ms (a promise of the published client may never settle). */
export async function within(limit, body) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([body(), late]);
  } finally {
    clearTimeout(timer);
  }
}

// One text for each value: keys sorted, properties that are undefined left out,
// classes told apart where they matter on the wire and only there (a Node
// Buffer is a Uint8Array, a TsrpcError a plain object).
function show(value) {
  switch (typeof value) {
    case 'undefined': return 'undefined';
    case 'bigint': return `${value}n`;
    case 'number': return Object.is(value, -0) ? '-0' : String(value);
    case 'object': break;
    default: return JSON.stringify(value) ?? typeof value;
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${Array.from(value, show).join(',')}]`;
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${new Uint8Array(value).join(' ')})`;
  if (value instanceof Uint8Array) return `Uint8Array(${value.join(' ')})`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.join(' ')})`;
  if (typeof value.toHexString === 'function') return `ObjectId(${value.toHexString()})`;
  const keys = Object.keys(value).filter((key) => value[key] !== undefined).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${show(value[key])}`).join(',')}}`;
}

function brief(text) {
  return text.length > 600 ? `${text.slice(0, 600)}… (${text.length} characters)` : text;
}
