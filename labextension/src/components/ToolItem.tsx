/** One tool: what it does, by which method, what it takes, whom to cite, and a button for a cell with its form. */
import { useEffect, useState, type ReactElement } from 'react';

import type { ToolAnswer, ToolRecord } from '../api/answers';
import { methodOf } from '../models/tools';
import { FoldIcon, PlusIcon } from './icons';
import { useWords } from './words';

/** What a tool needs. */
export interface ToolItemProps {
  readonly tool: ToolRecord;
  readonly isOpen: boolean;
  readonly onNewCell: (tool: string) => void;
  readonly onToggle: (tool: string) => void;
  readonly describe: (tool: string) => Promise<ToolAnswer>;
}

/** A tool in the list. */
export function ToolItem(props: ToolItemProps): ReactElement {
  const { tool, isOpen, onNewCell } = props;
  const trans = useWords();
  const method = methodOf(tool, trans);
  return (
    <li
      id={`fn-tool-${tool.type}`}
      className={`fn-Tool${tool.available ? '' : ' fn-mod-unavailable'}${isOpen ? ' fn-mod-open' : ''}`}
    >
      <div className="fn-Tool-name">
        <button
          type="button"
          className="fn-Fold"
          aria-expanded={isOpen}
          onClick={() => props.onToggle(tool.type)}
        >
          <FoldIcon isOpen={isOpen} />
          <bdi>{tool.displayName}</bdi>
        </button>
      </div>
      <button
        type="button"
        className="fn-Button fn-mod-small"
        aria-label={trans.__('New cell with the form of %1', tool.displayName)}
        title={trans.__('Insert a cell with this tool’s form')}
        onClick={() => onNewCell(tool.type)}
      >
        <PlusIcon /> {trans.__('New cell')}
      </button>
      <p className="fn-Tool-text" title={isOpen ? undefined : tool.description}>
        {tool.description}
      </p>
      {tool.available && method !== '' && (
        <p className="fn-Tool-method" title={tool.engine?.note ?? undefined}>
          {trans.__('Method: %1', method)}
        </p>
      )}
      {!tool.available && tool.unavailableReason !== null && (
        <p className="fn-Tool-reason" title={tool.unavailableReason}>
          {tool.unavailableReason}
        </p>
      )}
      {isOpen && <ToolFacts {...props} />}
    </li>
  );
}

function ToolFacts({ tool, describe }: ToolItemProps): ReactElement {
  const trans = useWords();
  const [facts, setFacts] = useState<ToolAnswer | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let isOver = false;
    describe(tool.type).then(
      found => !isOver && setFacts(found),
      (error: unknown) => !isOver && setFault(error instanceof Error ? error.message : String(error))
    );
    return () => {
      isOver = true;
    };
  }, [tool.type, describe]);
  const { engine } = tool;
  const rows: readonly (readonly [string, string])[] = [
    [trans.__('Family'), tool.family],
    [trans.__('Works on'), tool.modalities.join(', ')],
    [trans.__('Gives'), tool.functions.join(', ')],
    [trans.__('Licence'), engine?.licence ?? ''],
    [trans.__('Cite'), engine?.citation ?? facts?.citation?.text ?? ''],
    [trans.__('Mind'), engine?.note ?? '']
  ];
  return (
    <div className="fn-ToolFacts">
      {fault !== null && <p className="fn-JobRow-error">{fault}</p>}
      <dl>
        {rows
          .filter(([, text]) => text !== '')
          .map(([term, text]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
      {facts !== null && facts.inputs.length > 0 && (
        <>
          <h4>{trans.__('Takes')}</h4>
          <dl>
            {facts.inputs.map(input => (
              <div key={input.name}>
                <dt>
                  {input.title || input.name}
                  {input.isRequired && <span className="fn-Required"> {trans.__('required')}</span>}
                </dt>
                <dd>{input.description}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </div>
  );
}
