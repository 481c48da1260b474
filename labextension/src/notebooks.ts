/**
 * Writes cells through JupyterLab's commands and the few members of a notebook panel declared here, so that the
 * extension does not depend on a notebook package and works in any application with notebooks.
 */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { MessageLoop } from '@lumino/messaging';
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
    scrollToItem?(index: number, align: 'start'): Promise<void>;
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
 * Writes `code` into a cell and runs it: below the active cell of the current notebook, or in a new notebook, always if `isNew`.
 *
 * @returns the notebook
 * @throws Error if no notebook can be created
 */
export async function runInCell(app: JupyterFrontEnd, code: string, cwd: string, isNew = false): Promise<Widget> {
  const existing = isNew ? null : cwd === '' || isNotebook(app.shell.currentWidget) ? findNotebook(app) : null;
  const notebook = existing ?? (await createNotebook(app, cwd));
  await notebook.context.ready;
  await notebook.context.sessionContext.ready;
  activate(app, notebook);
  await writeCell(app, notebook, code);
  const { content } = notebook;
  const index = content.activeCellIndex;
  await app.commands.execute('notebook:run-cell');
  showOutput(notebook, index);
  return notebook;
}

/**
 * Scrolls to a cell whose output ends below the visible part of its notebook, unless another cell is active by then.
 */
function showOutput({ content }: NotebookLike, index: number): void {
  const cell = content.widgets[index];
  if (cell && content.activeCellIndex === index && bottomOf(cell) > bottomOf(content)) {
    void content.scrollToItem?.(index, 'start');
  }
}

function bottomOf({ node }: Widget): number {
  return node.getBoundingClientRect().bottom;
}

/**
 * Inserts `code` at the cursor of the active code cell of the current notebook.
 *
 * @returns whether there was such a cell
 */
export function insertAtCursor(app: JupyterFrontEnd, code: string): boolean {
  const notebook = findNotebook(app);
  const cell = notebook?.content.activeCell;
  if (!notebook || !cell?.editor?.replaceSelection || cell.model.type !== 'code' || isBlank(cell)) {
    return false;
  }
  activate(app, notebook);
  cell.editor.replaceSelection(code);
  cell.editor.focus();
  return true;
}

/** A position in an open notebook. */
export interface NotebookPosition {
  readonly notebook: NotebookLike;
  /** The cell at that position; null outside cells. */
  readonly cell: Element | null;
}

/** The notebook, and its cell, that contain `target`; null outside notebooks. */
export function findCell({ shell }: JupyterFrontEnd, target: EventTarget | null): NotebookPosition | null {
  if (shell.isDisposed || !(target instanceof Element)) {
    return null;
  }
  for (const widget of shell.widgets('main')) {
    if (isNotebook(widget) && widget.content.node.contains(target)) {
      return { notebook: widget, cell: target.closest('.jp-Cell') };
    }
  }
  return null;
}

/**
 * Writes `code` into a new cell below `cell`, or below all cells, without running it.
 *
 * @param cell - the node of a cell of the notebook
 * @returns the notebook
 * @throws Error if no cell can be created
 */
export async function insertCellBelow(
  app: JupyterFrontEnd,
  notebook: NotebookLike,
  cell: Element | null,
  code: string
): Promise<Widget> {
  const { content } = notebook;
  const index = content.widgets.findIndex(widget => widget.node === cell);
  activate(app, notebook);
  content.activeCellIndex = index < 0 ? content.widgets.length - 1 : index;
  await writeCell(app, notebook, code);
  return notebook;
}

/**
 * Activates the notebook at once. Otherwise it would get the focus only in the next frame, and until then JupyterLab's
 * commands would apply to the previously focused notebook.
 */
function activate({ shell }: JupyterFrontEnd, { id }: Widget): void {
  shell.activateById(id);
  MessageLoop.flush();
}

/** Writes into the active cell if it is blank, else into a new one below it; never overwrites code. */
async function writeCell(app: JupyterFrontEnd, { content }: NotebookLike, code: string): Promise<void> {
  if (!isBlank(content.activeCell)) {
    await app.commands.execute('notebook:insert-cell-below');
  }
  const cell = content.activeCell;
  if (!cell || !isBlank(cell)) {
    throw new Error('The notebook has no cell to write to. Add one and try again.');
  }
  cell.model.sharedModel.setSource(code);
}

/** The current notebook, else a visible one, else the only open one, since a result's tab may be in front. */
export function findNotebook(app: JupyterFrontEnd): NotebookLike | null {
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
    throw new Error('JupyterLab could not create a notebook. Open one and try again.');
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
