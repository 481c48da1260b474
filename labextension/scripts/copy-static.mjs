/** Copies the 3Dmol.js file that standalone pages and non-Lab notebooks load, with its licence beside it. */
import { copyFileSync, mkdirSync } from 'node:fs';

const source = 'node_modules/3dmol/build';
const target = 'src/foldnote/static';

mkdirSync(target, { recursive: true });
for (const name of ['3Dmol-min.js', '3Dmol-min.js.LICENSE.txt']) {
  copyFileSync(`${source}/${name}`, `${target}/${name}`);
}
