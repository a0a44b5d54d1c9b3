// Bundles the page into `dist/`, which is committed so that the example runs
// without Node. The same sources and lock file give the same bytes everywhere.
//
//   node build.mjs           writes dist/
//   node build.mjs --check   fails if dist/ is not what would be written

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: ['chat.ts', 'chat.css'],
  outdir: 'dist',
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2020',
  charset: 'utf8',
  legalComments: 'eof',
});
const files = [
  ...outputFiles.map(({ path, contents }) => ({ path, contents: Buffer.from(contents) })),
  { path: join(here, 'dist/index.html'), contents: await readFile(join(here, 'index.html')) },
];

if (process.argv.includes('--check')) {
  const stale = [];
  for (const { path, contents } of files) {
    const committed = await readFile(path).catch(() => undefined);
    if (!committed?.equals(contents)) stale.push(path);
  }
  for (const path of stale) console.error(`not what the sources give: ${path} (run: node build.mjs)`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  await mkdir(join(here, 'dist'), { recursive: true });
  for (const { path, contents } of files) {
    await writeFile(path, contents);
    console.log(`${path}: ${contents.length} bytes`);
  }
}
