/** The mouse's part of dragging: a press that moves far enough becomes a drag, any other stays a click. */
import type { MouseEvent as ReactMouseEvent } from 'react';

const FAR_PX = 6;

/** What an element needs so that it can be dragged; `begin` is told where the mouse is. */
export function draggable(begin: (point: MouseEvent) => void): {
  readonly onMouseDown: (event: ReactMouseEvent) => void;
} {
  return {
    onMouseDown: ({ button, clientX, clientY }) => {
      if (button !== 0) {
        return;
      }
      const stop = (): void => {
        document.removeEventListener('mousemove', onMove, true);
        document.removeEventListener('mouseup', stop, true);
      };
      const onMove = (event: MouseEvent): void => {
        if (Math.hypot(event.clientX - clientX, event.clientY - clientY) > FAR_PX) {
          stop();
          event.preventDefault();
          begin(event);
        }
      };
      document.addEventListener('mousemove', onMove, true);
      document.addEventListener('mouseup', stop, true);
    }
  };
}
