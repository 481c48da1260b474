/**
 * Dragging of jobs and files, as code for cells and as a value for file fields of forms. JupyterLab's own drags are used,
 * so that its editors accept the code as text.
 */
import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';

/** MIME type of the value for a file field of a form. */
export const VALUE_MIME = 'application/vnd.foldnote.value+json';
/** MIME type of the code of a whole cell. */
export const CELL_MIME = 'application/vnd.foldnote.cell';

/** The value for a file field; for a job, the field offers its files. */
export type FieldValue =
  | { readonly kind: 'upload'; readonly name: string }
  | { readonly kind: 'job'; readonly job: string }
  | { readonly kind: 'jobFile'; readonly job: string; readonly path: string };

/** What is dragged, in each form that a drop target may accept. */
export interface DragItem {
  /** The label at the pointer. */
  readonly label: string;
  /** Text for an editor. */
  readonly code: string;
  /** Code for a new cell. */
  readonly cell: string;
  /** Value for a file field; absent if not a file. */
  readonly value?: FieldValue | undefined;
}

const DRAG_THRESHOLD_PX = 5;

/**
 * Starts a drag when the mouse moves with its button down.
 *
 * @param event - the mouse press
 * @param getItem - returns the dragged item; called when the drag starts
 * @param onClick - called when the button is released without a drag
 */
export function dragFrom(
  event: { readonly button: number; readonly clientX: number; readonly clientY: number },
  getItem: () => DragItem,
  onClick: () => void = () => undefined
): void {
  if (event.button !== 0) {
    return;
  }
  const controller = new AbortController();
  const { signal } = controller;
  const onMove = ({ clientX, clientY }: MouseEvent): void => {
    if (Math.hypot(clientX - event.clientX, clientY - event.clientY) > DRAG_THRESHOLD_PX) {
      controller.abort();
      void startDrag(getItem(), clientX, clientY);
    }
  };
  const onUp = (): void => {
    controller.abort();
    onClick();
  };
  document.addEventListener('mousemove', onMove, { signal });
  document.addEventListener('mouseup', onUp, { signal });
}

function startDrag(item: DragItem, x: number, y: number): Promise<unknown> {
  const mimeData = new MimeData();
  mimeData.setData('text/plain', item.code);
  mimeData.setData(CELL_MIME, item.cell);
  if (item.value) {
    mimeData.setData(VALUE_MIME, item.value);
  }
  const dragImage = document.createElement('div');
  dragImage.className = 'fn-DragImage';
  dragImage.textContent = item.label;
  window.getSelection()?.removeAllRanges();
  const drag = new Drag({ mimeData, dragImage, supportedActions: 'copy', proposedAction: 'copy' });
  return drag.start(x, y);
}
