/**
 * The extension's icons as JupyterLab icons. Colours come from JupyterLab's classes and follow the theme.
 */
import { LabIcon } from '@jupyterlab/ui-components';

import type { ShownState } from './models/jobs/status';

const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16">
  <g fill="none" stroke-width="2.1" stroke-linecap="round" stroke-linejoin="round">
    <path class="jp-icon3 jp-icon-selectable" stroke="#616161" d="M7 2.5c0 4.7 10 4.7 10 9.5S7 16.8 7 21.5"/>
    <path class="jp-icon3 jp-icon-selectable" stroke="#616161" d="M17 2.5c0 1.8-1.4 2.9-3.2 3.8M7 12c0-1.8 1.4-2.9 3.2-3.8M17 21.5c0-1.8-1.4-2.9-3.2-3.8M7 12c0 1.8 1.4 2.9 3.2 3.8"/>
  </g>
</svg>`;

/** The icon of the sidebar. */
export const markIcon = new LabIcon({ name: 'foldnote:mark', svgstr: MARK });

const STROKE = 'fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"';

/** An icon of 16 pixels from SVG shapes. */
export function draw(name: string, shapes: string): LabIcon {
  const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="16">${shapes}</svg>`;
  return new LabIcon({ name: `foldnote:${name}`, svgstr });
}

/** The icon of each state of a job; they differ in shape, not only in colour. */
export const stateIcons: Readonly<Record<ShownState, LabIcon>> = {
  queued: draw(
    'queued',
    `<circle cx="8" cy="8" r="5.75" ${STROKE} stroke-dasharray="2.2 2.3"/><path d="M8 5.2V8l1.8 1.4" ${STROKE}/>`
  ),
  running: draw(
    'running',
    `<circle cx="8" cy="8" r="5.75" ${STROKE} opacity="0.3"/>
     <path class="fn-Glyph-turning" d="M8 2.25A5.75 5.75 0 0 1 13.75 8" ${STROKE}/>`
  ),
  complete: draw(
    'complete',
    `<circle cx="8" cy="8" r="6.5" fill="currentColor"/><path class="fn-Glyph-cut" d="M5.2 8.2l2 2 3.7-4.2" ${STROKE}/>`
  ),
  stopped: draw(
    'stopped',
    `<circle cx="8" cy="8" r="5.75" ${STROKE}/><rect x="5.75" y="5.75" width="4.5" height="4.5" rx="0.5" fill="currentColor"/>`
  ),
  failed: draw(
    'failed',
    `<path d="M8 1.6l6.6 11.9H1.4z" fill="currentColor" stroke="currentColor" stroke-linejoin="round"/>
     <path class="fn-Glyph-cut" d="M8 6v3.4M8 11.6v.1" ${STROKE}/>`
  )
};

/** The icon of a complete batch with failed jobs: the failure icon in outline. */
export const mixedIcon = draw(
  'mixed',
  `<path d="M8 2.4l6 10.8H2z" ${STROKE}/><path d="M8 6.4v3M8 11.4v.1" ${STROKE}/>`
);

/** A label with a hole. */
export const tagIcon = draw(
  'tag',
  `<path d="M2.5 7.5v-4a1 1 0 0 1 1-1h4l6 6-5 5z" ${STROKE}/><circle cx="5.4" cy="5.4" r="1" fill="currentColor"/>`
);

/** Two shapes that overlap. */
export const compareIcon = draw(
  'compare',
  `<circle cx="6" cy="8" r="3.9" ${STROKE}/><circle cx="10" cy="8" r="3.9" ${STROKE}/>`
);

/** A table of three columns. */
export const columnsIcon = draw(
  'columns',
  `<path d="M3.5 2.5h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM6.2 2.5v11M9.8 2.5v11" ${STROKE}/>`
);
