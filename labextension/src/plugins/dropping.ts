/**
 * Handles jobs and files that are dropped into a notebook outside its editors, by inserting a new cell. Editors accept
 * the code themselves, and forms the value.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { notifyOnError } from '../dialogs';
import { CELL_MIME } from '../dragging';
import { findCell, insertCellBelow } from '../notebooks';

/** Selector of elements that handle drops themselves. */
const DROP_TARGETS = '.jp-Editor, .foldnote-form';
const HIGHLIGHT_CLASS = 'fn-mod-dropHere';
const DRAG_EVENTS = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'];

/** Cells from drops. */
export const droppingPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:dropping',
  description: 'Inserts cells for jobs and files that are dropped into a notebook.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    let highlighted: Element | null = null;
    const highlight = (node: Element | null): void => {
      highlighted?.classList.remove(HIGHLIGHT_CLASS);
      highlighted = node;
      highlighted?.classList.add(HIGHLIGHT_CLASS);
    };
    const onDrag = (event: Event): void => {
      const drag = event as DropEvent;
      if (event.type === 'lm-dragleave') {
        highlight(null);
      }
      if (event.defaultPrevented || !drag.mimeData.hasData(CELL_MIME)) {
        return;
      }
      const position = acceptsDrops(event.target) ? null : findCell(app, event.target);
      if (!position) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      drag.dropAction = 'copy';
      highlight(event.type === 'lm-dragover' ? (position.cell ?? position.notebook.content.node) : null);
      if (event.type === 'lm-drop') {
        const code = String(drag.mimeData.getData(CELL_MIME));
        void notifyOnError(insertCellBelow(app, position.notebook, position.cell, code));
      }
    };
    for (const type of DRAG_EVENTS) {
      // In the capture phase: the dock panel around a notebook stops these events from bubbling.
      document.body.addEventListener(type, onDrag, true);
    }
  }
};

/** The members of Lumino's drag events used here. */
interface DropEvent extends Event {
  readonly mimeData: { hasData(type: string): boolean; getData(type: string): unknown };
  dropAction: string;
}

function acceptsDrops(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(DROP_TARGETS) !== null;
}
