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
  const { response, fault, isLoading, request } = useAdvice(advise);
  const submit = (): void => void request(prompt.trim());
  return (
    <form
      className="fn-Ask"
      onSubmit={event => {
        event.preventDefault();
        submit();
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
              submit();
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
        <Recommendation response={response} toolName={toolName} canRun={canRun} onChoose={onChoose} />
      )}
    </form>
  );
}

/** The latest recommendation, and how to request another one. */
interface Advice {
  readonly response: AdviceResponse | null;
  /** Why the last request failed; null if it did not. */
  readonly fault: string | null;
  readonly isLoading: boolean;
  /** Requests a recommendation, unless one is being loaded. */
  readonly request: (prompt: string) => Promise<void>;
}

/** Requests recommendations, one at a time. */
function useAdvice(advise: AdviceBoxProps['advise']): Advice {
  const [response, setResponse] = useState<AdviceResponse | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isLoading, setLoading] = useState(false);
  const request = async (prompt: string): Promise<void> => {
    if (isLoading) {
      return;
    }
    setLoading(true);
    setFault(null);
    setResponse(null);
    try {
      setResponse(await advise(prompt));
    } catch (error) {
      setFault(messageOf(error));
    } finally {
      setLoading(false);
    }
  };
  return { response, fault, isLoading, request };
}

interface RecommendationProps extends Omit<AdviceBoxProps, 'advise'> {
  readonly response: AdviceResponse;
}

/** The recommended tools, each with the reason. */
function Recommendation({ response, toolName, canRun, onChoose }: RecommendationProps): ReactElement {
  const trans = useTranslation();
  return (
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
  );
}
