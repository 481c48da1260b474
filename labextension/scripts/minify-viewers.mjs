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

/** The same program in fewer letters. Names at its top level stay, since the editor of boxes joins some of them. */
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

const read = name => readFileSync(join(sources, name), 'utf-8').replaceAll('\r\n', '\n');
const names = readdirSync(sources)
  .filter(name => name.endsWith('.js'))
  .sort();
const isAround = name => /^scene_\w+\.js$/.test(name);

/** The program that draws views, as Python joins it: what stands around ``scene.js``, and that. */
const program = `(function () {\n${names.filter(isAround).map(read).join('\n')}\nvar draw =\n${read('scene.js')};\nreturn draw;\n})()\n`;

const found = {};
for (const [name, source] of [['program', program], ...names.map(name => [name, read(name)])]) {
  const hash = createHash('sha256').update(source).digest('hex');
  found[name] = { source: hash, code: await shorten(source) };
}
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, JSON.stringify(found, null, 1) + '\n');

/** What writes scripts of views is loaded by pages: under its version, so that no view takes that of another. */
const { source, code } = found['view_script.js'];
const version = source.slice(0, 8);
writeFileSync(
  join(dirname(target), 'view-script.js'),
  `(window.foldnoteScripts = window.foldnoteScripts || {})['${version}'] = ${code};\n`
);
