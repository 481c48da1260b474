/**
 * Displays HTML that foldnote made from escaped values, as in cells. Its scripts run, because one of them draws the
 * scene; unescaped text of users or files must never be passed in.
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
    for (const inertScript of node.querySelectorAll('script')) {
      const script = document.createElement('script'); // scripts set by innerHTML do not run
      script.textContent = inertScript.textContent;
      inertScript.replaceWith(script);
    }
  }, [html]);
  return <div className="fn-HtmlPane jp-RenderedHTMLCommon" ref={pane} />;
}
