/**
 * The extension's icons as JupyterLab knows them. Colours come from JupyterLab's own classes and follow the theme.
 */
import { LabIcon } from '@jupyterlab/ui-components';

const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16">
  <g fill="none" stroke-width="2.1" stroke-linecap="round" stroke-linejoin="round">
    <path class="jp-icon3 jp-icon-selectable" stroke="#616161" d="M7 2.5c0 4.7 10 4.7 10 9.5S7 16.8 7 21.5"/>
    <path class="jp-icon3 jp-icon-selectable" stroke="#616161" d="M17 2.5c0 1.8-1.4 2.9-3.2 3.8M7 12c0-1.8 1.4-2.9 3.2-3.8M17 21.5c0-1.8-1.4-2.9-3.2-3.8M7 12c0 1.8 1.4 2.9 3.2 3.8"/>
  </g>
</svg>`;

const ANTIBODY = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 52 52" width="52">
  <g fill="none" stroke-width="4.6" stroke-linecap="round" stroke-linejoin="round">
    <path class="jp-icon-brand0" stroke="#1976d2" d="M13 9l10.2 17.5V45"/>
    <path class="jp-icon-brand0" stroke="#1976d2" d="M39 9L28.8 26.5V45"/>
    <path class="jp-icon-contrast0" stroke="#9c27b0" d="M6.5 13.5l7.2 12.2"/>
    <path class="jp-icon-contrast0" stroke="#9c27b0" d="M45.5 13.5l-7.2 12.2"/>
  </g>
</svg>`;

const PROTEIN = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 52 52" width="52">
  <g fill="none" stroke-width="4.6" stroke-linecap="round" stroke-linejoin="round">
    <path class="jp-icon-brand0" stroke="#1976d2" d="M15 6c0 10 22 10 22 20s-22 10-22 20"/>
    <path class="jp-icon-contrast0" stroke="#9c27b0" d="M37 6c0 4-3.6 6.6-8 8.8M15 26c0-3.6 3-6 6.8-7.8M37 46c0-4-3.6-6.6-8-8.8M15 26c0 3.6 3 6 6.8 7.8"/>
  </g>
</svg>`;

/** The mark of the sidebar. */
export const markIcon = new LabIcon({ name: 'foldnote:mark', svgstr: MARK });

/** Tools that work on antibodies. */
export const antibodyIcon = new LabIcon({ name: 'foldnote:antibody', svgstr: ANTIBODY });

/** Every other tool. */
export const proteinIcon = new LabIcon({ name: 'foldnote:protein', svgstr: PROTEIN });
