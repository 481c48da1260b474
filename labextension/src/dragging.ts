/**
 * Jobs and files that are dragged: code for cells, and a value for the file fields of forms. JupyterLab's own drags are used,
 * so that its editors take the code as they take any text.
 */
import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';

/** Mime type of what a file field of a form takes. */
export const VALUE_MIME = 'application/vnd.foldnote.value+json';
/** Mime type of the code of a whole cell. */
export const CELL_MIME = 'application/vnd.foldnote.cell';

/** What a file field takes; of a job, it offers the files. */
export type FieldValue =
  | { readonly kind: 'upload'; readonly name: string }
  | { readonly kind: 'job'; readonly job: string }
  | { readonly kind: 'jobFile'; readonly job: string; readonly path: string };

/** Something that is dragged. */
export interface Dragged {
  /** What moves along with the pointer. */
  readonly label: string;
  /** What an editor gets. */
  readonly code: string;
  /** What a cell of its own gets. */
  readonly cell: string;
  /** What a file field gets; nothing for what is no file. */
  readonly value?: FieldValue | undefined;
}

const FAR_PX = 5;

/**
 * Begins a drag when the mouse moves away with its button down.
 *
 * @param event - the press
 * @param find - tells what is dragged; asked when the drag begins
 * @param onClick - called when the button comes up without a drag
 */
export function dragFrom(
  event: { readonly button: number; readonly clientX: number; readonly clientY: number },
  find: () => Dragged,
  onClick: () => void = () => undefined
): void {
  if (event.button !== 0) {
    return;
  }
  const over = new AbortController();
  const { signal } = over;
  const onMove = ({ clientX, clientY }: MouseEvent): void => {
    if (Math.hypot(clientX - event.clientX, clientY - event.clientY) > FAR_PX) {
      over.abort();
      void startDrag(find(), clientX, clientY);
    }
  };
  const onUp = (): void => {
    over.abort();
    onClick();
  };
  document.addEventListener('mousemove', onMove, { signal });
  document.addEventListener('mouseup', onUp, { signal });
}

function startDrag(dragged: Dragged, x: number, y: number): Promise<unknown> {
  const mimeData = new MimeData();
  mimeData.setData('text/plain', dragged.code);
  mimeData.setData(CELL_MIME, dragged.cell);
  if (dragged.value) {
    mimeData.setData(VALUE_MIME, dragged.value);
  }
  const dragImage = document.createElement('div');
  dragImage.className = 'fn-DragImage';
  dragImage.textContent = dragged.label;
  window.getSelection()?.removeAllRanges();
  const drag = new Drag({ mimeData, dragImage, supportedActions: 'copy', proposedAction: 'copy' });
  return drag.start(x, y);
}
