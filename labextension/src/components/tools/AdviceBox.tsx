/** "Describe your task": the service recommends tools with reasons. */
import { useState, type ReactElement } from 'react';

import type { AdviceResponse } from '../../api/responses';
import { messageOf, visibleText } from '../../models/formatting/text';
import { Notice } from '../controls/Notice';
import { useTranslation } from '../translation';

/** Props of the box. */
export interface AdviceBoxProps {
  readonly advise: (prompt: string) => Promise<AdviceResponse>;
  readonly toolName: (type: string) => string;
  /** Whether the tool can run here. */
  readonly canRun: (type: string) => boolean;
  readonly onChoose: (tool: string) => void;
}

/** The prompt and the recommendation. */
export function AdviceBox({ advise, toolName, canRun, onChoose }: AdviceBoxProps): ReactElement {
  const trans = useTranslation();
  const [prompt, setPrompt] = useState('');
  const [response, setResponse] = useState<AdviceResponse | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isLoading, setLoading] = useState(false);
  const submit = async (): Promise<void> => {
    if (isLoading) {
      return;
    }
    setLoading(true);
    setFault(null);
    setResponse(null);
    try {
      setResponse(await advise(prompt.trim()));
    } catch (error) {
      setFault(messageOf(error));
    } finally {
      setLoading(false);
    }
  };
  return (
    <form
      className="fn-Ask"
      onSubmit={event => {
        event.preventDefault();
        void submit();
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
              void submit();
            }
          }}
        />
        <button type="submit" className="fn-Button fn-mod-small" disabled={isLoading || prompt.trim() === ''}>
          {trans.__('Ask')}
        </button>
      </div>
      {isLoading && (
        <Notice tone="busy" title={trans.__('Comparing the tools')}>
          {trans.__('This may take up to half a minute.')}
        </Notice>
      )}
      {fault !== null && (
        <Notice tone="warning" title={trans.__('No recommendation')}>
          {fault}
        </Notice>
      )}
      {response !== null && !isLoading && (
        <div className="fn-Advice" role="status">
          {response.tools.length === 0 && <p className="fn-Advice-none">{trans.__('No tool is recommended.')}</p>}
          {(response.summary !== '' || response.tools.length === 0) && (
            <p className="fn-Tool-method">
              {visibleText(response.summary) ||
                trans.__('Name your molecules and what you want to know, or search the list below.')}
            </p>
          )}
          <ol>
            {response.tools.map(({ toolId, reason }) => (
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
