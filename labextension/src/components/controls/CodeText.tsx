/** A sentence of a service with code between backticks, as in cells and reports. */
import { Fragment, type ReactElement } from 'react';

import { splitCode } from '../../models/formatting/text';

/** The sentence with its code formatted; no other markup is interpreted. */
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
