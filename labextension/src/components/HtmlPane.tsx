/**
 * HTML that foldnote itself made of escaped values, as cells show it. Its scripts run, because one of them draws the
 * scene; nothing that a person or a file wrote may come here as it is.
 */
import { useLayoutEffect, useRef, type ReactElement } from 'react';

/** The pane. */
export function HtmlPane({ html }: { readonly html: string }): ReactElement {
  const pane = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = pane.current;
    if (!node) {
      return;
    }
    node.innerHTML = html;
    for (const dead of node.querySelectorAll('script')) {
      const live = document.createElement('script'); // those of innerHTML do not run
      live.textContent = dead.textContent;
      dead.replaceWith(live);
    }
  }, [html]);
  return <div className="fn-HtmlPane jp-RenderedHTMLCommon" ref={pane} />;
}
