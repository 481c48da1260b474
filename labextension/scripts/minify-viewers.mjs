/**
 * Shortens the scripts of the views, which travel in each output, and writes them into one file of the Python package.
 *
 * Each is written with the hash of its source: Python takes a script from its source where that has changed since the
 * build, or was never built.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { minify } from 'terser';

const sources = 'src/foldnote/viewers/assets';
const target = 'src/foldnote/static/viewer-scripts.json';
const NAMED = 'expression=';

/** The same program in fewer letters. Names at its top level stay, since scripts that are joined use each other's. */
async function shorten(source) {
  // A function that is called by what follows it in the output would else be taken for unused.
  const isExpression = /^\(/m.test(source) && !source.trimEnd().endsWith(';');
  const { code } = await minify(isExpression ? NAMED + source : source, {
    ecma: 2020,
    compress: { passes: 2 },
    format: { inline_script: true, quote_style: 1 } // single quotes, since JSON would escape others
  });
  return isExpression ? `(${code.slice(NAMED.length).replace(/;$/, '')})` : code;
}

const found = {};
for (const name of readdirSync(sources).sort()) {
  const source = name.endsWith('.js') ? readFileSync(join(sources, name), 'utf-8').replaceAll('\r\n', '\n') : '';
  if (source) {
    const hash = createHash('sha256').update(source).digest('hex');
    found[name] = { source: hash, code: await shorten(source) };
  }
}
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, JSON.stringify(found, null, 1) + '\n');
