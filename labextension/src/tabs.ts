/** Tabs of results. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Widget } from '@lumino/widgets';

import { markIcon } from './icons';

/** Adds a widget as a closable tab; below the document in Notebook 7, which has one document per page. */
export function addTab(app: JupyterFrontEnd, widget: Widget): void {
  widget.title.icon = markIcon;
  widget.title.closable = true;
  app.shell.add(widget, 'main');
  if (!widget.isAttached) {
    widget.addClass('fn-mod-below');
    app.shell.add(widget, 'down');
  }
}
