// HTTP and WebSocket over plain TCP sockets, so that nothing but the bytes of
// the peer decides what a vector sees.

import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { once } from 'node:events';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const CRLF2 = Buffer.from('\r\n\r\n');

/** Bytes of a socket, collected; readers wait for what has not come yet. */
class Stream {
  constructor(url) {
    const { hostname, port } = new URL(url);
    this.host = `${hostname}:${port}`;
    this.socket = connect(Number(port), hostname);
    this.bytes = Buffer.alloc(0);
    this.ended = false;
    this.waiting = new Set();
    this.socket.on('data', (chunk) => { this.bytes = Buffer.concat([this.bytes, chunk]); this.wake(); });
    this.socket.on('close', () => { this.ended = true; this.wake(); });
    this.socket.on('error', () => {});
  }

  wake() {
    for (const resume of this.waiting) resume();
    this.waiting.clear();
  }

  /** What `take(bytes)` gives once it gives something: `[result, bytes used]`. Undefined at the end, or after `limit` ms. */
  async read(take, limit) {
    const deadline = performance.now() + limit;
    for (;;) {
      const taken = take(this.bytes, this.ended);
      if (taken) {
        this.bytes = this.bytes.subarray(taken[1]);
        return taken[0];
      }
      const left = deadline - performance.now();
      if (this.ended || left <= 0) return undefined;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        this.waiting.add(() => { clearTimeout(timer); resolve(); });
      });
    }
  }

  close() {
    this.socket.destroy();
  }
}

function head(bytes) {
  const end = bytes.indexOf(CRLF2);
  if (end < 0) return undefined;
  const [start, ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = lines.map((text) => {
    const colon = text.indexOf(':');
    return [text.slice(0, colon), text.slice(colon + 1).trim()];
  });
  return { start, headers, length: end + 4, get: (name) => headers.find(([n]) => n.toLowerCase() === name)?.[1] };
}

/**
 * One request on a connection of its own. Undefined if no complete response
 * comes within `limit` ms; else `{status, headers: [[name, value]], body}`.
 */
export async function exchange(url, { method, path, headers, body }, limit) {
  const stream = new Stream(url);
  await once(stream.socket, 'connect');
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${stream.host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push(`Content-Length: ${body.length}`);
  stream.socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]));
  const response = await stream.read(takeResponse, limit);
  stream.close();
  return response;
}

function takeResponse(bytes) {
  const parsed = head(bytes);
  if (!parsed) return undefined;
  const rest = bytes.subarray(parsed.length);
  const body = parsed.get('transfer-encoding') === 'chunked' ? unchunk(rest) : whole(rest, Number(parsed.get('content-length')));
  if (!body) return undefined;
  return [{ status: Number(parsed.start.split(' ')[1]), headers: parsed.headers, body }, bytes.length];
}

function whole(bytes, length) {
  return bytes.length >= length ? bytes : undefined;
}

function unchunk(bytes) {
  const parts = [];
  for (let at = 0; ;) {
    const eol = bytes.indexOf('\r\n', at);
    if (eol < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, eol), 16);
    if (bytes.length < eol + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(eol + 2, eol + 2 + size));
    at = eol + 2 + size + 2;
  }
}

/** A WebSocket that sends and shows single frames. */
export class RawWebSocket {
  /** Shakes hands; `offered` is the subprotocol header, null for none. Offers compression as the Node client does. */
  static async open(url, offered) {
    const stream = new Stream(url);
    await once(stream.socket, 'connect');
    const key = randomBytes(16).toString('base64');
    const lines = [
      'GET / HTTP/1.1', `Host: ${stream.host}`, 'Connection: Upgrade', 'Upgrade: websocket',
      'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`,
      'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
    ];
    if (offered !== null) lines.push(`Sec-WebSocket-Protocol: ${offered}`);
    stream.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    const response = await stream.read((bytes) => {
      const parsed = head(bytes);
      return parsed && [parsed, parsed.length];
    }, 5_000);
    const accept = createHash('sha1').update(key + GUID).digest('base64');
    if (!response?.start.startsWith('HTTP/1.1 101 ') || response.get('sec-websocket-accept') !== accept) {
      throw new Error(`no handshake: ${response?.start}`);
    }
    return new RawWebSocket(stream, response);
  }

  constructor(stream, response) {
    this.stream = stream;
    this.negotiated = response.get('sec-websocket-protocol') ?? null;
    this.extensions = response.get('sec-websocket-extensions') ?? false;
  }

  send({ text, hex, opcode }) {
    const payload = text !== undefined ? Buffer.from(text) : Buffer.from(hex, 'hex');
    const mask = randomBytes(4);
    const first = 0x80 | (opcode ?? (text !== undefined ? 1 : 2));
    const size = payload.length < 126
      ? Buffer.from([0x80 | payload.length])
      : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 0xff]);
    this.stream.socket.write(Buffer.concat([Buffer.from([first]), size, mask, payload.map((b, i) => b ^ mask[i % 4])]));
  }

  /** The next frame, in the form of the vectors; undefined if none comes within `limit` ms. */
  receive(limit) {
    return this.stream.read(takeFrame, limit);
  }

  close() {
    this.stream.close();
  }
}

function takeFrame(bytes) {
  if (bytes.length < 2) return undefined;
  let length = bytes[1] & 0x7f;
  let at = 2;
  if (length === 126) { if (bytes.length < 4) return undefined; length = bytes.readUInt16BE(2); at = 4; }
  if (length === 127) { if (bytes.length < 10) return undefined; length = Number(bytes.readBigUInt64BE(2)); at = 10; }
  if (bytes.length < at + length) return undefined;
  const payload = bytes.subarray(at, at + length);
  return [frame(bytes[0] & 0x0f, payload), at + length];
}

function frame(opcode, payload) {
  switch (opcode) {
    case 1: return { text: payload.toString('utf8') };
    case 2: return { hex: payload.toString('hex') };
    case 8: return payload.length < 2 ? { close: 1005, reason: '' } : { close: payload.readUInt16BE(0), reason: payload.toString('utf8', 2) };
    default: return { opcode, hex: payload.toString('hex') };
  }
}
