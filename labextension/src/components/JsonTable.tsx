/** A JSON object as a table, with the JSON itself folded below it. */
import { useMemo, type ReactElement } from 'react';

import { readJsonRows } from '../models/jsonrows';
import { visibleText } from '../models/text';
import { useWords } from './words';

/** Props of the table. */
export interface JsonTableProps {
  /** Accessible name. */
  readonly label: string;
  /** JSON text. */
  readonly text: string;
}

/** The table; text that is not a JSON object is shown as it is. */
export function JsonTable({ label, text }: JsonTableProps): ReactElement {
  const trans = useWords();
  const rows = useMemo(() => readJsonRows(text), [text]);
  const raw = (
    <pre className="fn-Log fn-mod-whole" tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
  if (rows === null) {
    return raw;
  }
  return (
    <>
      <table className="fn-JsonTable" aria-label={label}>
        <tbody>
          {rows.map(({ name, value }) => (
            <tr key={name}>
              <th scope="row">{visibleText(name)}</th>
              <td>
                <bdi>{value.split('\n').map(visibleText).join('\n')}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <details className="fn-JsonTable-raw">
        <summary>{trans.__('JSON')}</summary>
        {raw}
      </details>
    </>
  );
}
