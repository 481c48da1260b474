/** Registers the renderer that shows the saved text of a widget that is gone. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { isNotebook } from '../notebooks';
import { OURS, WidgetOrFallback } from '../panels/fallback';
import { IFoldnote } from '../tokens';

/** ipywidgets registers with -10; the lowest rank takes precedence. */
const RANK = -20;

/** Saved forms and cards stay readable without their kernel. */
export const fallbackPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:fallback',
  description: 'Shows the saved text of forms and job cards whose kernel is gone.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [IFoldnote],
  activate: (app: JupyterFrontEnd, rendermime: IRenderMimeRegistry, foldnote: IFoldnote | null) => {
    const stir = (): void => foldnote?.attention.stir();
    rendermime.addFactory(
      {
        safe: false,
        mimeTypes: [OURS],
        createRenderer: options => {
          const output = new WidgetOrFallback(options, node => findRendermime(app, node) ?? rendermime);
          output.node.addEventListener('click', stir); // it may submit a job
          stir();
          return output;
        }
      },
      RANK
    );
  }
};

/** The registry of the notebook that contains `node`, which alone has the notebook's widget manager. */
function findRendermime(app: JupyterFrontEnd, node: Node): IRenderMimeRegistry | null {
  for (const widget of app.shell.widgets('main')) {
    if (isNotebook(widget) && widget.node.contains(node)) {
      return widget.content.rendermime;
    }
  }
  return null;
}
