/** A JSON object as a table, with the JSON itself collapsed below it. */
import { Fragment, useMemo, type ReactElement } from 'react';

import { readJsonRows, type JsonRow } from '../../models/results/jsonrows';
import { visibleText } from '../../models/formatting/text';
import { Notice } from '../controls/Notice';
import { useTranslation } from '../translation';

/** Props of the table. */
export interface JsonTableProps {
  /** Accessible name. */
  readonly label: string;
  /** JSON text. */
  readonly text: string;
  /** Title and sentence to show if the object is empty. */
  readonly empty: readonly [string, string];
  /** Reads the rows; by default like those of any object. */
  readonly read?: (text: string) => readonly JsonRow[] | null;
}

/** The table; text that is not a JSON object is shown unchanged. */
export function JsonTable({ label, text, empty, read = readJsonRows }: JsonTableProps): ReactElement {
  const trans = useTranslation();
  const rows = useMemo(() => read(text), [text, read]);
  const raw = (
    <pre className="fn-Log fn-mod-whole" tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
  if (rows === null) {
    return raw;
  }
  if (rows.length === 0) {
    const [title, sentence] = empty;
    return (
      <Notice tone="plain" title={title}>
        {sentence}
      </Notice>
    );
  }
  return (
    <>
      <table className="fn-JsonTable" aria-label={label}>
        <tbody>
          {rows.map(({ path, name, section, value }, index) => (
            <Fragment key={path}>
              {section !== '' && section !== rows[index - 1]?.section && (
                <tr>
                  <th scope="rowgroup" colSpan={2}>
                    {visibleText(section)}
                  </th>
                </tr>
              )}
              <tr>
                <th scope="row" title={visibleText(path)}>
                  {visibleText(name)}
                </th>
                <td>{typeof value === 'string' ? <Lines text={value} /> : <Items texts={value} />}</td>
              </tr>
            </Fragment>
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

function Lines({ text }: { readonly text: string }): ReactElement {
  return <bdi>{text.split('\n').map(visibleText).join('\n')}</bdi>;
}

function Items({ texts }: { readonly texts: readonly string[] }): ReactElement {
  return (
    <ul>
      {texts.map((text, index) => (
        <li key={index}>
          <Lines text={text} />
        </li>
      ))}
    </ul>
  );
}
