/**
 * Cells are written through JupyterLab's own commands and through the few members of a notebook that are named here, so
 * that the extension needs no notebook package and works with whatever notebook the application brings.
 */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { Widget } from '@lumino/widgets';

interface CellLike {
  readonly model: {
    readonly type: string;
    readonly sharedModel: { getSource(): string; setSource(source: string): void };
  };
  readonly editor: { replaceSelection?(text: string): void; focus(): void } | null;
}

/** The members of a notebook panel that the extension uses. */
export interface NotebookLike extends Widget {
  readonly context: {
    readonly ready: Promise<void>;
    readonly sessionContext: { readonly ready: Promise<void> };
  };
  readonly content: Widget & {
    readonly widgets: readonly Widget[];
    activeCellIndex: number;
    readonly activeCell: CellLike | null;
    readonly rendermime: IRenderMimeRegistry;
  };
}

/** Whether a widget is a notebook, judged by its members. */
export function isNotebook(widget: Widget | null): widget is NotebookLike {
  return (
    widget !== null &&
    hasMember(widget, 'context') &&
    hasMember(widget.context, 'sessionContext') &&
    hasMember(widget, 'content') &&
    hasMember(widget.content, 'activeCell') &&
    hasMember(widget.content, 'rendermime')
  );
}

/**
 * Writes `code` into a cell and runs it: below the active cell of the notebook that is meant, or in a new notebook.
 *
 * @returns the notebook
 * @throws Error when no notebook can be made
 */
export async function runInCell(app: JupyterFrontEnd, code: string, cwd: string): Promise<Widget> {
  const found = cwd === '' || isNotebook(app.shell.currentWidget) ? findNotebook(app) : null;
  const notebook = found ?? (await createNotebook(app, cwd));
  app.shell.activateById(notebook.id);
  await notebook.context.ready;
  await notebook.context.sessionContext.ready;
  if (!isBlank(notebook.content.activeCell)) {
    await app.commands.execute('notebook:insert-cell-below');
  }
  const cell = notebook.content.activeCell;
  if (!cell) {
    throw new Error('The notebook has no cell to write to. Add one and try again.');
  }
  cell.model.sharedModel.setSource(code);
  await app.commands.execute('notebook:run-cell');
  return notebook;
}

/**
 * Writes `code` at the cursor of the active code cell of the current notebook.
 *
 * @returns whether there was such a place
 */
export function insertAtCursor(app: JupyterFrontEnd, code: string): boolean {
  const notebook = findNotebook(app);
  const cell = notebook?.content.activeCell ?? null;
  if (!cell?.editor?.replaceSelection || cell.model.type !== 'code' || isBlank(cell)) {
    return false;
  }
  app.shell.activateById(notebook?.id ?? '');
  cell.editor.replaceSelection(code);
  cell.editor.focus();
  return true;
}

/**
 * Writes `code` into a new cell below `cell`, or below all cells, and leaves it to the person to run it.
 *
 * @param cell - the node of a cell of the notebook
 */
export async function insertCellBelow(
  app: JupyterFrontEnd,
  notebook: NotebookLike,
  cell: Element | null,
  code: string
): Promise<void> {
  const { content } = notebook;
  const index = content.widgets.findIndex(widget => widget.node === cell);
  app.shell.activateById(notebook.id);
  content.activeCellIndex = index < 0 ? content.widgets.length - 1 : index;
  if (!isBlank(content.activeCell)) {
    await app.commands.execute('notebook:insert-cell-below');
  }
  content.activeCell?.model.sharedModel.setSource(code);
}

/** The current notebook, else one that can be seen, else the only one that is open: a result's tab may be in front. */
function findNotebook(app: JupyterFrontEnd): NotebookLike | null {
  const current = app.shell.currentWidget;
  if (isNotebook(current)) {
    return current;
  }
  const open = [...app.shell.widgets('main')].filter(isNotebook);
  return open.find(notebook => notebook.isVisible) ?? (open.length === 1 ? (open[0] ?? null) : null);
}

async function createNotebook(app: JupyterFrontEnd, cwd: string): Promise<NotebookLike> {
  const kernelName = await findPythonKernel(app);
  const created: unknown = await app.commands.execute('notebook:create-new', {
    cwd,
    kernelName,
    activate: true
  });
  const widget = created as Widget | null;
  if (!isNotebook(widget)) {
    throw new Error('JupyterLab made no notebook. Open one and try again.');
  }
  return widget;
}

async function findPythonKernel(app: JupyterFrontEnd): Promise<string> {
  const { kernelspecs } = app.serviceManager;
  await kernelspecs.ready;
  const specs = kernelspecs.specs?.kernelspecs ?? {};
  const preferred = kernelspecs.specs?.default ?? '';
  const names = [preferred, ...Object.keys(specs)];
  const name = names.find(candidate => specs[candidate]?.language.toLowerCase() === 'python');
  if (name === undefined) {
    throw new Error('There is no Python kernel. Install ipykernel where JupyterLab runs.');
  }
  return name;
}

function isBlank(cell: CellLike | null): boolean {
  return cell?.model.type === 'code' && cell.model.sharedModel.getSource().trim() === '';
}

function hasMember<K extends string>(value: unknown, name: K): value is Record<K, unknown> {
  return typeof value === 'object' && value !== null && name in value;
}
