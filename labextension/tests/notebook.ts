/** Notebooks with the members that the extension names, which keep what is written into their cells and run. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Panel, Widget } from '@lumino/widgets';

/** A cell; its text goes in at the end, where the cursor stands. */
export class Cell extends Widget {
  readonly runs: string[] = [];
  readonly model;
  readonly editor;

  constructor(
    public source = '',
    type = 'code'
  ) {
    super();
    this.addClass('jp-Cell');
    const editor = this.node.appendChild(document.createElement('div'));
    editor.className = 'jp-Editor';
    editor.tabIndex = 0;
    this.model = {
      type,
      sharedModel: {
        getSource: () => this.source,
        setSource: (text: string) => {
          this.source = text;
        }
      }
    };
    this.editor = {
      replaceSelection: (text: string) => {
        this.source += text;
      },
      focus: () => editor.focus()
    };
  }
}

class Cells extends Widget {
  widgets: Cell[] = [];
  activeCellIndex = 0;

  constructor(readonly rendermime: IRenderMimeRegistry) {
    super();
  }

  get activeCell(): Cell | null {
    return this.widgets[this.activeCellIndex] ?? null;
  }

  insert(index: number, cell: Cell): void {
    this.widgets.splice(index, 0, cell);
    this.node.append(...this.widgets.map(each => each.node));
    this.activeCellIndex = index;
  }
}

let lastId = 0;

/** A notebook in the main area. */
export class Notebook extends Panel {
  readonly content: Cells;
  readonly context = { ready: Promise.resolve(), sessionContext: { ready: Promise.resolve() } };

  constructor(rendermime: IRenderMimeRegistry, cells: readonly Cell[] = [new Cell()]) {
    super();
    this.id = `notebook-${(lastId += 1)}`;
    this.content = new Cells(rendermime);
    this.addWidget(this.content);
    this.node.tabIndex = -1;
    cells.forEach((cell, index) => this.content.insert(index, cell));
    this.content.activeCellIndex = 0;
  }

  protected override onActivateRequest(): void {
    if (!this.node.contains(document.activeElement)) {
      this.node.focus();
    }
  }

  /** What stands in the cells. */
  sources(): readonly string[] {
    return this.content.widgets.map(cell => cell.source);
  }

  /** What was run, in order. */
  runs(): readonly string[] {
    return this.content.widgets.flatMap(cell => cell.runs);
  }
}

/** Registers the commands of JupyterLab's notebooks. */
export function registerNotebooks(app: JupyterFrontEnd, rendermime: IRenderMimeRegistry): void {
  const current = (): Notebook | null => (app.shell.currentWidget instanceof Notebook ? app.shell.currentWidget : null);
  app.commands.addCommand('notebook:create-new', {
    execute: args => {
      const notebook = new Notebook(rendermime);
      notebook.title.caption = JSON.stringify(args);
      app.shell.add(notebook, 'main');
      return notebook;
    }
  });
  app.commands.addCommand('notebook:insert-cell-below', {
    execute: () => {
      const content = current()?.content;
      content?.insert(content.activeCellIndex + 1, new Cell());
    }
  });
  app.commands.addCommand('notebook:run-cell', {
    execute: () => {
      const cell = current()?.content.activeCell;
      cell?.runs.push(cell.source);
    }
  });
}

/** The notebooks of the main area. */
export function notebooks(app: JupyterFrontEnd): readonly Notebook[] {
  return [...app.shell.widgets('main')].filter(widget => widget instanceof Notebook);
}

/** Puts a notebook into the main area and brings it to the front. */
export function addNotebook(
  app: JupyterFrontEnd,
  rendermime: IRenderMimeRegistry,
  cells: readonly Cell[] = [new Cell()]
): Notebook {
  const notebook = new Notebook(rendermime, cells);
  app.shell.add(notebook, 'main');
  app.shell.activateById(notebook.id);
  return notebook;
}
