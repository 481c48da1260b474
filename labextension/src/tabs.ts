/** Tabs of results. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

import type { JobRef } from './api/responses';
import { markIcon } from './icons';

/** The tabs of results, which JupyterLab restores after the page is reloaded. */
export type ResultTracker = WidgetTracker<MainAreaWidget<Widget & { readonly jobRef: JobRef }>>;

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
