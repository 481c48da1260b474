/**
 * Handles jobs and files that are dropped into a notebook outside its editors, by inserting a new cell. Editors accept
 * the code themselves, and forms the value.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { CELL_MIME } from '../dragging';
import { findCell, insertCellBelow } from '../notebooks';
import { notifyOnError } from './commands';

/** Selector of elements that handle drops themselves. */
const DROP_TARGETS = '.jp-Editor, .foldnote-form';
const OVER = 'fn-mod-dropHere';
const TYPES = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'];

/** Cells from drops. */
export const droppingPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:dropping',
  description: 'Inserts cells for jobs and files that are dropped into a notebook.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    let marked: Element | null = null;
    const mark = (node: Element | null): void => {
      marked?.classList.remove(OVER);
      marked = node;
      marked?.classList.add(OVER);
    };
    const onDrag = (event: Event): void => {
      const drag = event as DropEvent;
      if (event.type === 'lm-dragleave') {
        mark(null);
      }
      if (event.defaultPrevented || !drag.mimeData.hasData(CELL_MIME)) {
        return;
      }
      const place = isTaken(event.target) ? null : findCell(app, event.target);
      if (!place) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      drag.dropAction = 'copy';
      mark(event.type === 'lm-dragover' ? (place.cell ?? place.notebook.content.node) : null);
      if (event.type === 'lm-drop') {
        const code = String(drag.mimeData.getData(CELL_MIME));
        void notifyOnError(insertCellBelow(app, place.notebook, place.cell, code));
      }
    };
    for (const type of TYPES) {
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

function isTaken(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(DROP_TARGETS) !== null;
}
