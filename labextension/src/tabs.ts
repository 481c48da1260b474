/** Tabs of results. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Widget } from '@lumino/widgets';

import { markIcon } from './icons';

/** Adds a widget as a tab that can be closed; below the document in Notebook 7, which has one a page. */
export function addTab(app: JupyterFrontEnd, widget: Widget): void {
  widget.title.icon = markIcon;
  widget.title.closable = true;
  app.shell.add(widget, 'main');
  if (!widget.isAttached) {
    widget.addClass('fn-mod-below');
    app.shell.add(widget, 'down');
  }
}
