/**
 * An icon for each family of tools and each type of file, drawn on a grid of 16 pixels in JupyterLab's colours, so that they
 * are sharp in lists and follow the theme.
 */
import type { LabIcon } from '@jupyterlab/ui-components';

import { draw as drawIcon } from './icons';

const MAIN = 'class="jp-icon-brand0" stroke="#1976d2"';
const OTHER = 'class="jp-icon-contrast0" stroke="#9c27b0"';
const FULL = 'class="jp-icon-brand0" fill="#1976d2" stroke="none"';
const FULL_OTHER = 'class="jp-icon-contrast0" fill="#9c27b0" stroke="none"';

function draw(name: string, shapes: string): LabIcon {
  const attributes = 'fill="none" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"';
  return drawIcon(name, `<g ${attributes}>${shapes}</g>`);
}

function path(colour: string, d: string): string {
  return `<path ${colour} d="${d}"/>`;
}

function boxes(colour: string, ...rectangles: readonly (readonly [number, number, number, number])[]): string {
  return rectangles.map(([x, y, w, h]) => `<rect ${colour} x="${x}" y="${y}" width="${w}" height="${h}"/>`).join('');
}

/** A ribbon. */
export const structureIcon = draw(
  'structure',
  path(MAIN, 'M4.5 1.5C4.5 5 11.5 4.5 11.5 8S4.5 11 4.5 14.5') +
    path(
      OTHER,
      'M11.5 1.5c0 1.3-1 2.1-2.2 2.7M4.5 8c0-1.3 1-2 2-2.5M4.5 8c0 1.3 1 2 2 2.5M11.5 14.5c0-1.3-1-2.1-2.2-2.7'
    )
);

/** A ring of six atoms with a substituent. */
export const moleculeIcon = draw(
  'molecule',
  path(MAIN, 'M6 4.5l4 2.25v4.5L6 13.5l-4-2.25v-4.5zM6 7l2 1.1v2') + path(OTHER, 'M10 6.75l3.5-2v-3')
);

/** Rows with columns that differ. */
export const alignmentIcon = draw(
  'alignment',
  boxes(FULL, [1, 2, 4, 3], [6, 2, 4, 3], [1, 6.5, 4, 3], [11, 6.5, 4, 3], [6, 11, 4, 3], [11, 11, 4, 3]) +
    boxes(FULL_OTHER, [11, 2, 4, 3], [6, 6.5, 4, 3], [1, 11, 4, 3])
);

/** Lines of a FASTA file. */
export const sequencesIcon = draw(
  'sequences',
  path(OTHER, 'M2 2.5L4.5 4.5 2 6.5') + path(MAIN, 'M7.5 4.5H14M2 9h12M2 12.5h8')
);

/** A matrix with a diagonal. */
export const matrixIcon = draw(
  'matrix',
  boxes(FULL, [1, 1, 4, 4], [6, 6, 4, 4], [11, 11, 4, 4]) +
    `<g opacity="0.55">${boxes(FULL_OTHER, [6, 1, 4, 4], [1, 6, 4, 4], [11, 6, 4, 4], [6, 11, 4, 4])}</g>` +
    `<g opacity="0.3">${boxes(FULL_OTHER, [11, 1, 4, 4], [1, 11, 4, 4])}</g>`
);

const antibodyIcon = draw(
  'antibody',
  path(MAIN, 'M4.5 3L7.2 8v6M11.5 3L8.8 8v6') + path(OTHER, 'M2 4.5l2.2 4M14 4.5l-2.2 4')
);

const numberedIcon = draw('numbered', path(MAIN, 'M1.5 10.5h13') + path(OTHER, 'M3.5 5.5v5M8 3.5v7M12.5 5.5v5'));

const gaugeIcon = draw('gauge', path(MAIN, 'M2.5 12.5a6 6 0 1 1 11 0') + path(OTHER, 'M8 11l2.8-4'));

const dockingIcon = draw(
  'docking',
  path(MAIN, 'M2 3v5.5a6 6 0 0 0 12 0V3') + path(OTHER, 'M8 2.5l2.6 1.5v3L8 8.5 5.4 7V4z')
);

const designIcon = draw(
  'design',
  path(MAIN, 'M2 14.5c0-3.5 5.5-2.5 5.5-6') + path(OTHER, 'M7.5 8.5l.5-2.5 4.5-4.5 2 2L10 8z')
);

const superposedIcon = draw(
  'superposed',
  path(MAIN, 'M1.5 11.5c3 0 3-8 6.5-8s3.5 8 6.5 8') + path(OTHER, 'M1.5 14c3 0 3.5-6.5 6.5-6.5s3.5 6.5 6.5 6.5')
);

const energyIcon = draw(
  'energy',
  path(MAIN, 'M1.5 2.5c.8 8 3 11 4.8 7 1-2.3 2.4-2.3 3.4 0 1.8 4 4 1 4.8-7') +
    `<circle ${FULL_OTHER} cx="12" cy="8.5" r="1.5"/>`
);

const FAMILIES: ReadonlyMap<string, LabIcon> = new Map([
  ['structure-prediction', structureIcon],
  ['antibody-design', antibodyIcon],
  ['sequence-analysis', numberedIcon],
  ['property-prediction', gaugeIcon],
  ['docking', dockingIcon],
  ['protein-design', designIcon],
  ['structure-analysis', superposedIcon],
  ['free-energy', energyIcon]
]);

/** The icon of a family of tools; a structure for families that are not in the catalog. */
export function familyIcon(family: string): LabIcon {
  return FAMILIES.get(family) ?? structureIcon;
}
