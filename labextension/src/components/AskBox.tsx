/** "Describe your task": the service recommends tools with reasons. */
import { useState, type ReactElement } from 'react';

import type { AdviceResponse } from '../api/responses';
import { sentenceOf, visibleText } from '../models/text';
import { Notice } from './Notice';
import { useWords } from './words';

/** Props of the box. */
export interface AskBoxProps {
  readonly onAsk: (prompt: string) => Promise<AdviceResponse>;
  readonly toolName: (type: string) => string;
  /** Whether the tool can run here. */
  readonly canRun: (type: string) => boolean;
  readonly onChoose: (tool: string) => void;
}

/** The prompt and the recommendation. */
export function AskBox({ onAsk, toolName, canRun, onChoose }: AskBoxProps): ReactElement {
  const trans = useWords();
  const [prompt, setPrompt] = useState('');
  const [answer, setResponse] = useState<AdviceResponse | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  const ask = async (): Promise<void> => {
    if (isAsking) {
      return;
    }
    setAsking(true);
    setFault(null);
    setResponse(null);
    try {
      setResponse(await onAsk(prompt.trim()));
    } catch (error) {
      setFault(sentenceOf(error));
    } finally {
      setAsking(false);
    }
  };
  return (
    <form
      className="fn-Ask"
      onSubmit={event => {
        event.preventDefault();
        void ask();
      }}
    >
      <label className="fn-Ask-label" htmlFor="fn-ask">
        {trans.__('Describe your task')}
      </label>
      <div className="fn-Toolbar-row">
        <textarea
          id="fn-ask"
          rows={2}
          value={prompt}
          placeholder={trans.__('For example: dock this ligand into my kinase')}
          onChange={event => setPrompt(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key === 'Enter' && !event.shiftKey && prompt.trim() !== '') {
              event.preventDefault();
              void ask();
            }
          }}
        />
        <button type="submit" className="fn-Button fn-mod-small" disabled={isAsking || prompt.trim() === ''}>
          {trans.__('Ask')}
        </button>
      </div>
      {isAsking && (
        <Notice tone="busy" title={trans.__('Comparing the tools')}>
          {trans.__('This may take up to half a minute.')}
        </Notice>
      )}
      {fault !== null && (
        <Notice tone="warning" title={trans.__('No recommendation')}>
          {fault}
        </Notice>
      )}
      {answer !== null && !isAsking && (
        <div className="fn-Advice" role="status">
          {answer.tools.length === 0 && <p className="fn-Advice-none">{trans.__('No tool is recommended.')}</p>}
          {(answer.summary !== '' || answer.tools.length === 0) && (
            <p className="fn-Tool-method">
              {visibleText(answer.summary) ||
                trans.__('Name your molecules and what you want to know, or search the list below.')}
            </p>
          )}
          <ol>
            {answer.tools.map(({ toolId, reason }) => (
              <li key={toolId}>
                <button type="button" className="fn-Link" onClick={() => onChoose(toolId)}>
                  {toolName(toolId)}
                </button>
                {!canRun(toolId) && <span className="fn-Tool-method"> {trans.__('· not available here')}</span>}
                <p className="fn-Tool-method">{visibleText(reason)}</p>
              </li>
            ))}
          </ol>
        </div>
      )}
    </form>
  );
}
