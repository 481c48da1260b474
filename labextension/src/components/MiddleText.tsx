/** A text in one line that is truncated in the middle, so that names that differ at either end stay distinguishable. */
import type { ReactElement } from 'react';

import { splitEnd } from '../models/text';

/** The text; assistive technology and copies have all of it. */
export function MiddleText({ text }: { readonly text: string }): ReactElement {
  const [start, end] = splitEnd(text);
  return (
    <bdi className="fn-Middle">
      <span className="fn-Middle-start">{start}</span>
      {end !== '' && <span className="fn-Middle-end">{end}</span>}
    </bdi>
  );
}
