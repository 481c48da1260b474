/** Removes the output of earlier builds, so that stale development output is never packed into a wheel. */
import { rmSync } from 'node:fs';

for (const path of ['labextension/lib', 'src/foldnote/labextension', 'src/foldnote/static']) {
  rmSync(path, { recursive: true, force: true });
}
