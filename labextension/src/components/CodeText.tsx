/** A sentence of a service, in which code stands between backticks, as in cells and reports. */
import { Fragment, type ReactElement } from 'react';

import { splitCode } from '../models/text';

/** The sentence with its code as code; no other markup is read from it. */
export function CodeText({ text }: { readonly text: string }): ReactElement {
  return (
    <>
      {splitCode(text).map(({ text: part, isCode }, index) =>
        isCode ? (
          <code key={index} className="fn-Code">
            {part}
          </code>
        ) : (
          <Fragment key={index}>{part}</Fragment>
        )
      )}
    </>
  );
}
