/**
 * Copies the libraries that kernels and standalone pages load (3Dmol.js, and OpenChemLib, the structure editor), with
 * the licences of everything that each one bundles. They are published with their dependencies bundled, which the build
 * of the extension cannot see, so the licences are also added to the extension's own list.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const libraries = [
  { name: '3dmol', file: 'build/3Dmol-min.js', title: '3Dmol.js', others: 'MIT AND EDTSurf' },
  { name: 'openchemlib', file: 'dist/openchemlib.js', title: 'OpenChemLib', others: 'BSD-3-Clause AND Apache-2.0' }
];
const target = 'src/foldnote/static';
const listed = 'src/foldnote/labextension/static/third-party-licenses.json';

/** Returns the package and all its dependencies, each with the text of its licence. */
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

/** Returns the folder from which node resolves a package. */
function findPackage(name, from) {
  const paths = createRequire(join(process.cwd(), from, 'package.json')).resolve.paths(name);
  const found = paths.map(path => join(path, name)).find(path => existsSync(join(path, 'package.json')));
  if (found === undefined) {
    throw new Error(`The package ${name}, which ${dirname(from)} needs, is not installed. Run npm ci.`);
  }
  return found.startsWith(process.cwd()) ? found.slice(process.cwd().length + 1) : found;
}

/** Copies one library with its licences; returns them. */
function copyLibrary({ name, file, title, others }) {
  const found = readLicences(`node_modules/${name}`).map(each => [`${each.name} ${each.versionInfo}`, each]);
  const licences = [...new Map(found).values()];
  licences.push({
    name: `${name} (code by others)`,
    versionInfo: licences[0].versionInfo,
    licenseId: others,
    extractedText: readFileSync(`labextension/licences/${name}-sources.txt`, 'utf-8')
  });
  const line = '='.repeat(76);
  const parts = licences.map(
    each => `${line}\n${each.name} ${each.versionInfo} (${each.licenseId})\n\n${each.extractedText}`
  );
  copyFileSync(`node_modules/${name}/${file}`, `${target}/${basename(file)}`);
  writeFileSync(
    `${target}/${basename(file)}.LICENSE.txt`,
    `Licences of ${basename(file)}: of ${title} and of each package that is bundled in it.\n\n${parts.join('\n')}`
  );
  return licences;
}

mkdirSync(target, { recursive: true });
const licences = libraries.flatMap(copyLibrary);
if (existsSync(listed)) {
  const list = JSON.parse(readFileSync(listed, 'utf-8'));
  const names = new Set(licences.map(each => each.name));
  list.packages = [...list.packages.filter(each => !names.has(each.name)), ...licences];
  writeFileSync(listed, JSON.stringify(list, null, 2) + '\n');
}
