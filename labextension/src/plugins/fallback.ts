/** Registers the renderer that shows the saved text of a widget whose kernel is gone. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { isOutdated } from '../api/update';
import { PLAIN } from '../models/translation';
import { isNotebook } from '../notebooks';
import { FOLDNOTE_MIME, WidgetOrFallback } from '../panels/fallback';
import { loadStyles } from '../styles';
import { IFoldnote } from '../tokens';

/** ipywidgets registers with -10; the lowest rank takes precedence. */
const RANK = -20;

/** How long the result of an update check is cached, since a notebook may have many saved outputs. */
const CACHE_MS = 60_000;

/** Saved forms and cards stay readable without their kernel. */
export const fallbackPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:fallback',
  description: 'Shows the saved text of forms and job cards whose kernel is gone.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  optional: [IFoldnote],
  activate: (app: JupyterFrontEnd, rendermime: IRenderMimeRegistry, foldnote: IFoldnote | null) => {
    const updates = { isOutdated: cacheResult(isOutdated), trans: foldnote?.trans ?? PLAIN };
    const expectJob = (): void => foldnote?.attention.expectJob();
    rendermime.addFactory(
      {
        safe: false,
        mimeTypes: [FOLDNOTE_MIME],
        createRenderer: options => {
          const findRegistry = (node: Node): IRenderMimeRegistry => findRendermime(app, node) ?? rendermime;
          const output = new WidgetOrFallback(options, findRegistry, undefined, updates);
          output.node.addEventListener('click', expectJob); // it may submit a job
          expectJob();
          void loadStyles();
          return output;
        }
      },
      RANK
    );
  }
};

/** Returns the function with its last result cached for a while. */
function cacheResult(check: () => Promise<boolean>): () => Promise<boolean> {
  let [result, checkedAt] = [Promise.resolve(false), -Infinity];
  return () => {
    if (Date.now() - checkedAt > CACHE_MS) {
      [result, checkedAt] = [check(), Date.now()];
    }
    return result;
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
