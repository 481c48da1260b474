/** Writes the code that an output offers into a new cell below its own; see `assets/next_cell.js`. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { notifyOnError } from '../dialogs';
import { findCell, insertCellBelow } from '../notebooks';

/** Name of the event. */
const INSERT_CELL = 'fn-insert-cell';

/** Cells from outputs. */
export const nextCellPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:next-cell',
  description: 'Inserts cells with code that outputs of the same notebook offer.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    document.addEventListener(INSERT_CELL, event => {
      const code = event instanceof CustomEvent ? readCode(event.detail) : '';
      const position = findCell(app, event.target);
      if (code === '' || !position?.cell || event.defaultPrevented) {
        return;
      }
      event.preventDefault(); // tells the output that the cell was inserted
      void notifyOnError(insertCellBelow(app, position.notebook, position.cell, code));
    });
  }
};

function readCode(detail: unknown): string {
  return typeof detail === 'object' && detail !== null && 'code' in detail ? String(detail.code) : '';
}
