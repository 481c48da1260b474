/**
 * Minifies the scripts of the views, which are part of each output, and writes them into one file of the Python
 * package.
 *
 * Each is stored with the hash of its source: Python uses the source itself if it has changed since the build, or was
 * never built.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { minify } from 'terser';

const sources = 'src/foldnote/viewers/assets';
const target = 'src/foldnote/static/viewer-scripts.json';
const NAMED = 'expression=';

/** Minifies a program. Names at its top level are kept, since the box editor combines several programs. */
async function shorten(source) {
  // Terser would remove a function as unused if it is called only by the code that follows it in the output.
  const isExpression = /^\(/m.test(source) && !source.trimEnd().endsWith(';');
  const { code } = await minify(isExpression ? NAMED + source : source, {
    ecma: 2020,
    compress: { passes: 2 },
    format: { inline_script: true, quote_style: 1 } // single quotes, since JSON would escape double quotes
  });
  return isExpression ? `(${code.slice(NAMED.length).replace(/;$/, '')})` : code;
}

const read = name => readFileSync(join(sources, name), 'utf-8').replaceAll('\r\n', '\n');
const names = readdirSync(sources)
  .filter(name => name.endsWith('.js'))
  .sort();
const isAround = name => /^scene_\w+\.js$/.test(name);

/** The program that draws views, concatenated as in Python: ``scene.js`` within its surrounding parts. */
const program = `(function () {\n${names.filter(isAround).map(read).join('\n')}\nvar draw =\n${read('scene.js')};\nreturn draw;\n})()\n`;

const found = {};
for (const [name, source] of [['program', program], ...names.map(name => [name, read(name)])]) {
  const hash = createHash('sha256').update(source).digest('hex');
  found[name] = { source: hash, code: await shorten(source) };
}
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, JSON.stringify(found, null, 1) + '\n');

/**
 * Pages load the program that writes scripts of views under a versioned name, so that a view never uses another
 * version.
 */
const { source, code } = found['view_script.js'];
const version = source.slice(0, 8);
writeFileSync(
  join(dirname(target), 'view-script.js'),
  `(window.foldnoteScripts = window.foldnoteScripts || {})['${version}'] = ${code};\n`
);
