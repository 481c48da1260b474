/** Details of a tool: inputs, outputs, authors, citation and licence. */
import { useEffect, useState, type ReactElement, type ReactNode } from 'react';

import type { ToolResponse, ToolRecord } from '../../api/responses';
import { messageOf, visibleText } from '../../models/formatting/text';
import { readableName } from '../../models/service/tools';
import { CodeText } from '../controls/CodeText';
import { useTranslation } from '../translation';

/** Props of the details. */
export interface ToolFactsProps {
  readonly tool: ToolRecord;
  readonly describe: (tool: string) => Promise<ToolResponse>;
}

type Input = ToolResponse['inputs'][number];

/** The details of a tool. */
export function ToolFacts({ tool, describe }: ToolFactsProps): ReactElement {
  const trans = useTranslation();
  const [facts, setFacts] = useState<ToolResponse | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let isCancelled = false;
    describe(tool.type).then(
      response => !isCancelled && setFacts(response),
      (error: unknown) => !isCancelled && setFault(messageOf(error))
    );
    return () => {
      isCancelled = true;
    };
  }, [tool.type, describe]);
  const { engine } = tool;
  const engineOutputs = engine?.outputs ?? [];
  const outputs = engineOutputs.length > 0 ? engineOutputs : (facts?.outputs ?? []);
  return (
    <div className="fn-ToolFacts">
      {fault !== null && <p className="fn-JobRow-error">{fault}</p>}
      {facts === null && fault === null && <p className="fn-Tool-method">{trans.__('Loading its settings …')}</p>}
      {facts !== null && <Inputs inputs={facts.inputs} />}
      {facts !== null && facts.inputs.length === 0 && (
        <p className="fn-Tool-method">{trans.__('The service does not list its settings.')}</p>
      )}
      {outputs.length > 0 && (
        <>
          <h4>{trans.__('Outputs')}</h4>
          <Terms rows={outputs.map(readOutput)} />
        </>
      )}
      <h4>{trans.__('About')}</h4>
      <Terms
        rows={[
          [trans.__('Family'), readableName(tool.family)],
          [trans.__('Works on'), tool.modalities.map(readableName).join(', ')],
          [trans.__('Task'), tool.functions.map(readableName).join(', ')],
          [trans.__('Note'), engine?.note ? <CodeText key="note" text={engine.note} /> : ''],
          [trans.__('Licence'), engine?.licence ?? ''],
          [trans.__('Citation'), <Citation key="cite" tool={tool} facts={facts} />]
        ]}
      />
    </div>
  );
}

/** The method's citation, else the tool's, with its DOI as a link. */
function Citation(props: { readonly tool: ToolRecord; readonly facts: ToolResponse | null }): ReactElement | null {
  const engineCitation = props.tool.engine?.citation ?? '';
  const toolCitation = props.facts?.citation ?? null;
  const text = engineCitation || (toolCitation?.text ?? '');
  const doi = engineCitation === '' ? (toolCitation?.doi ?? null) : null;
  if (text === '') {
    return null;
  }
  return (
    <>
      {visibleText(text)}
      {doi !== null && /^10\.\d+\/\S+$/.test(doi) && (
        <>
          {' '}
          <a className="fn-Link" href={`https://doi.org/${doi}`} target="_blank" rel="noreferrer">
            doi:{doi}
          </a>
        </>
      )}
    </>
  );
}

function Inputs({ inputs }: { readonly inputs: readonly Input[] }): ReactElement | null {
  const trans = useTranslation();
  const [showsAll, setShowsAll] = useState(false);
  const required = inputs.filter(input => input.isRequired);
  const initial = required.length > 0 ? required : inputs.slice(0, 3);
  const shown = showsAll ? inputs : initial;
  if (inputs.length === 0) {
    return null;
  }
  return (
    <>
      <h4>{trans.__('Inputs')}</h4>
      <dl className="fn-Inputs">
        {shown.map(input => (
          <div key={input.name}>
            <dt>
              {visibleText(input.title || input.name)}
              {input.isRequired && <span className="fn-Required"> {trans.__('required')}</span>}
            </dt>
            <dd className="fn-Tool-method">
              {[visibleText(input.kind), input.default && trans.__('default: %1', visibleText(input.default))]
                .filter(Boolean)
                .join(' · ')}
            </dd>
            <dd>{visibleText(input.description)}</dd>
          </div>
        ))}
      </dl>
      {inputs.length > initial.length && (
        <button type="button" className="fn-Link" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
          {showsAll
            ? trans.__('Show fewer settings')
            : trans._n('Show one more setting', 'Show %1 more settings', inputs.length - initial.length)}
        </button>
      )}
    </>
  );
}

function Terms({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }): ReactElement {
  return (
    <dl className="fn-Terms">
      {rows
        .filter(([, content]) => content !== '')
        .map(([term, content]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{content}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A `name: content` line as a row. */
function readOutput(text: string): readonly [string, string] {
  const [name = '', ...rest] = visibleText(text).split(': ');
  return [name, rest.join(': ')];
}
