/** A text in one line that is truncated in the middle, so that names that differ at either end stay distinguishable. */
import { useEffect, useRef, type ClipboardEvent, type ReactElement } from 'react';

import { splitEnd } from '../../models/formatting/text';

/** The text; assistive technology and copies get all of it. */
export function MiddleText({ text }: { readonly text: string }): ReactElement {
  const [start, end] = splitEnd(text);
  const container = useRef<HTMLElement>(null);
  useEffect(() => {
    const node = container.current;
    if (!node || node.childElementCount < 2) {
      return undefined;
    }
    const observer = new ResizeObserver(
      () => void import('../../middleGap').then(({ collapseGap }) => collapseGap(node))
    );
    observer.observe(node);
    return () => observer.disconnect();
  }, [text]);
  return (
    <bdi className="fn-Middle" ref={container} onCopy={copyInOneLine}>
      <span className="fn-Middle-start">{start}</span>
      {end !== '' && <span className="fn-Middle-end">{end}</span>}
    </bdi>
  );
}

/** Browsers insert a line end between the parts when copying; a selection beyond the text is left to the browser. */
function copyInOneLine(event: ClipboardEvent): void {
  const selection = window.getSelection();
  const isWithin = [selection?.anchorNode, selection?.focusNode].every(
    node => node && event.currentTarget.contains(node)
  );
  if (isWithin) {
    event.clipboardData.setData('text/plain', String(selection).replace('\n', ''));
    event.preventDefault();
  }
}
