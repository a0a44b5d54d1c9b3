// The vector files: the folder named by POLYWIRE_VECTORS, else the project's own.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = process.env.POLYWIRE_VECTORS ?? fileURLToPath(new URL('../../vectors', import.meta.url));

/** The parsed content of one vector file. */
export function vectors(file) {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
}
