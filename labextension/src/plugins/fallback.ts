/** Registers the renderer that shows the saved text of a widget whose kernel is gone. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { isOutdated } from '../api/update';
import { PLAIN } from '../models/words';
import { isNotebook } from '../notebooks';
import { OURS, WidgetOrFallback } from '../panels/fallback';
import { loadStyles } from '../styles';
import { IFoldnote } from '../tokens';

/** ipywidgets registers with -10; the lowest rank takes precedence. */
const RANK = -20;

/** How long the result of an update check is cached, since a notebook may have many saved outputs. */
const KEPT_MS = 60_000;

/** Saved forms and cards stay readable without their kernel. */
export const fallbackPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:fallback',
  description: 'Shows the saved text of forms and job cards whose kernel is gone.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [IFoldnote],
  activate: (app: JupyterFrontEnd, rendermime: IRenderMimeRegistry, foldnote: IFoldnote | null) => {
    const updates = { isOutdated: keep(isOutdated), trans: foldnote?.trans ?? PLAIN };
    const stir = (): void => foldnote?.attention.stir();
    rendermime.addFactory(
      {
        safe: false,
        mimeTypes: [OURS],
        createRenderer: options => {
          const find = (node: Node): IRenderMimeRegistry => findRendermime(app, node) ?? rendermime;
          const output = new WidgetOrFallback(options, find, undefined, updates);
          output.node.addEventListener('click', stir); // it may submit a job
          stir();
          void loadStyles();
          return output;
        }
      },
      RANK
    );
  }
};

/** Returns the function with its last result cached for a while. */
function keep(ask: () => Promise<boolean>): () => Promise<boolean> {
  let [answer, askedAt] = [Promise.resolve(false), -Infinity];
  return () => {
    if (Date.now() - askedAt > KEPT_MS) {
      [answer, askedAt] = [ask(), Date.now()];
    }
    return answer;
  };
}

/** The registry of the notebook that contains `node`; only this one has the notebook's widget manager. */
function findRendermime(app: JupyterFrontEnd, node: Node): IRenderMimeRegistry | null {
  for (const widget of app.shell.widgets('main')) {
    if (isNotebook(widget) && widget.node.contains(node)) {
      return widget.content.rendermime;
    }
  }
  return null;
}
