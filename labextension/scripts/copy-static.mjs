/**
 * Copies the 3Dmol.js file that standalone pages and non-Lab notebooks load, and writes the licences of all that it
 * holds beside it. 3Dmol.js is published bundled with its dependencies, which the build of the extension does not see:
 * they are added to the extension's own list of licences, too.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const source = 'node_modules/3dmol/build';
const target = 'src/foldnote/static';
const listed = 'src/foldnote/labextension/static/third-party-licenses.json';

/** The package and all that it depends on, each with the text of its licence. */
function readLicences(folder) {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf-8'));
  const own = {
    name: about.name,
    versionInfo: about.version,
    licenseId: about.license.replace(/^\((.*)\)$/, '$1'),
    extractedText: readFileSync(join(folder, 'LICENSE'), 'utf-8').trim() + '\n'
  };
  const needed = Object.keys(about.dependencies ?? {}).flatMap(name => readLicences(findPackage(name, folder)));
  return [own, ...needed];
}

/** Where node finds a package from a folder. */
function findPackage(name, from) {
  const paths = createRequire(join(process.cwd(), from, 'package.json')).resolve.paths(name);
  const found = paths.map(path => join(path, name)).find(path => existsSync(join(path, 'package.json')));
  if (found === undefined) {
    throw new Error(`The package ${name}, which ${dirname(from)} needs, is not installed. Run npm ci.`);
  }
  return found.startsWith(process.cwd()) ? found.slice(process.cwd().length + 1) : found;
}

const seen = new Map(readLicences('node_modules/3dmol').map(each => [`${each.name} ${each.versionInfo}`, each]));
const sources = {
  name: '3dmol (code by others)',
  versionInfo: seen.values().next().value.versionInfo,
  licenseId: 'MIT AND EDTSurf',
  extractedText: readFileSync('labextension/licences/3dmol-sources.txt', 'utf-8')
};
const licences = [...seen.values(), sources];
const line = '='.repeat(76);
const parts = licences.map(
  each => `${line}\n${each.name} ${each.versionInfo} (${each.licenseId})\n\n${each.extractedText}`
);

mkdirSync(target, { recursive: true });
copyFileSync(`${source}/3Dmol-min.js`, `${target}/3Dmol-min.js`);
writeFileSync(
  `${target}/3Dmol-min.js.LICENSE.txt`,
  `Licences of 3Dmol-min.js: of 3Dmol.js and of each package that is bundled in it.\n\n${parts.join('\n')}`
);
if (existsSync(listed)) {
  const list = JSON.parse(readFileSync(listed, 'utf-8'));
  const names = new Set(licences.map(each => each.name));
  list.packages = [...list.packages.filter(each => !names.has(each.name)), ...licences];
  writeFileSync(listed, JSON.stringify(list, null, 2) + '\n');
}
