/** Shows the form of a job that a cell submits, in a cell below it, without running the cell. Loaded on first use. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import { InputDialog, Notification } from '@jupyterlab/apputils';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { FormCell, FormCellsResponse } from '../api/responses';
import { findNotebook, runInCell } from '../notebooks';
import type { IFoldnote } from '../tokens';

/**
 * Reads the active cell of the current notebook, or the one whose context menu is open, and shows the form of its call
 * in a cell below. If there are several calls, the user chooses one.
 *
 * @throws Error if no cell is active, or its code submits no job
 */
export async function openForm(
  app: JupyterFrontEnd,
  { api, trans }: IFoldnote,
  { isContextMenu }: ReadonlyPartialJSONObject
): Promise<void> {
  const content = findNotebook(app)?.content;
  const clickedNode =
    isContextMenu === true ? app.contextMenuHitTest(node => node.classList.contains('jp-Cell')) : undefined;
  const index = content?.widgets.findIndex(({ node }) => node === clickedNode) ?? -1;
  if (content && index >= 0) {
    content.activeCellIndex = index; // a right click does not activate a cell
  }
  const cell = content?.activeCell;
  const code = cell?.model.type === 'code' ? cell.model.sharedModel.getSource() : '';
  if (code.trim() === '') {
    throw new Error(trans.__('Select a code cell that submits a job first.'));
  }
  const { cells } = await api.requests.post<FormCellsResponse>('cells/forms', { code });
  const chosen = await chooseCell(cells, trans.__('Which job should the form show?'), trans.__('Open'));
  if (!chosen) {
    return;
  }
  await runInCell(app, chosen.code, '');
  if (chosen.unread.length > 0) {
    const missing = chosen.unread.map(item => item.replace(/,.*/s, '')).join(', ');
    Notification.warning(
      trans.__(
        'Settings that could not be read from the cell are missing from the form: %1. The comments above it say why.',
        missing
      ),
      { autoClose: 8000 }
    );
  }
}

async function chooseCell(cells: readonly FormCell[], title: string, okLabel: string): Promise<FormCell | undefined> {
  if (cells.length < 2) {
    return cells[0];
  }
  const items = cells.map(item => item.label);
  const { button, value } = await InputDialog.getItem({ title, items, okLabel });
  return button.accept ? cells[items.indexOf(value ?? '')] : undefined;
}
