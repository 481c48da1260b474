/** The service's catalog: tools, availability and methods. */
import { useEffect, useMemo, useState, type ReactElement, type ReactNode } from 'react';

import type { AdviceAnswer, ToolAnswer, ToolRecord } from '../api/answers';
import { formatCount } from '../models/text';
import { searchTools, type ToolsState } from '../models/tools';
import { AskBox } from './AskBox';
import { Notice } from './Notice';
import { SearchBox } from './SearchBox';
import { ServiceNotice } from './ServiceNotice';
import { ToolItem } from './ToolItem';
import { useWords } from './words';

/** Props of the view. */
export interface ToolsViewProps {
  readonly state: ToolsState;
  readonly toolName: (type: string) => string;
  readonly onNewCell: (tool: string) => void;
  readonly onRetry: () => void;
  readonly onAsk: (prompt: string) => Promise<AdviceAnswer>;
  readonly describe: (tool: string) => Promise<ToolAnswer>;
  /** Content below the tools of this computer. */
  readonly engines?: ReactNode;
}

/** The tools of the service. */
export function ToolsView(props: ToolsViewProps): ReactElement {
  const { state, onRetry } = props;
  const trans = useWords();
  const { tools, service, lost, isAsking } = state;
  const [query, setQuery] = useState('');
  const [open, setOpen] = useState<string | null>(null);
  const found = useMemo(() => searchTools(tools ?? [], query), [tools, query]);
  const ready = found.filter(tool => tool.available);
  const served = found.filter(tool => !tool.available && tool.engine !== null);
  const adapters = served.filter(tool => tool.engine?.kind === 'adapter');
  const installable = served.filter(tool => tool.engine?.kind !== 'adapter');
  const elsewhere = found.filter(tool => !tool.available && tool.engine === null);
  const hasTools = tools !== null && tools.length > 0;
  const toggle = (tool: string): void => setOpen(before => (before === tool ? null : tool));
  const [shownTool, setShownTool] = useState<string | null>(null);
  useEffect(() => {
    if (shownTool !== null) {
      document.getElementById(`fn-tool-${shownTool}`)?.scrollIntoView({ block: 'center' });
      setShownTool(null);
    }
  }, [shownTool]);
  const section = { ...props, open, onToggle: toggle };
  return (
    <div className="fn-View">
      <ServiceNotice service={service} lost={lost} now={Date.now()} isWhole={!hasTools} onRetry={onRetry} />
      {tools === null && isAsking && <Notice tone="busy" title={trans.__('Loading the tools')} isWhole />}
      {service?.state === 'ok' && tools?.length === 0 && (
        <Notice
          tone="plain"
          title={trans.__('No tools')}
          isWhole
          action={{ label: trans.__('Ask again'), onClick: onRetry }}
        >
          {trans.__('The service lists no tools.')}
        </Notice>
      )}
      {hasTools && (
        <>
          <div className="fn-Toolbar">
            <SearchBox label={trans.__('Search tools')} value={query} onChange={setQuery} />
          </div>
          {query === '' && (
            <AskBox
              onAsk={props.onAsk}
              toolName={props.toolName}
              canRun={type => tools.some(tool => tool.type === type && tool.available)}
              onChoose={tool => {
                setOpen(tool);
                setShownTool(tool);
              }}
            />
          )}
          <ToolSection
            title={service?.isEmbedded ? trans.__('Run on this computer') : trans.__('Ready to run')}
            tools={ready}
            {...section}
          />
          {query === '' && props.engines}
          <ToolSection title={trans.__('Can be installed')} tools={installable} {...section} />
          <ToolSection title={trans.__('Run with your own copy of the program')} tools={adapters} {...section} />
          <ToolSection title={trans.__('Run elsewhere')} tools={elsewhere} {...section} />
          {found.length === 0 && (
            <Notice
              tone="plain"
              title={trans.__('No tool matches')}
              isWhole
              action={{ label: trans.__('Show all tools'), onClick: () => setQuery('') }}
            />
          )}
        </>
      )}
    </div>
  );
}

interface ToolSectionProps {
  readonly title: string;
  readonly tools: readonly ToolRecord[];
  readonly open: string | null;
  readonly onToggle: (tool: string) => void;
  readonly onNewCell: (tool: string) => void;
  readonly describe: (tool: string) => Promise<ToolAnswer>;
}

function ToolSection(props: ToolSectionProps): ReactElement | null {
  const { title, tools, open, onToggle, onNewCell, describe } = props;
  if (tools.length === 0) {
    return null;
  }
  return (
    <section aria-label={title}>
      <h3 className="fn-Section">
        {title} <span className="fn-Filter-count">{formatCount(tools.length)}</span>
      </h3>
      <ul className="fn-ToolList">
        {tools.map(tool => (
          <ToolItem
            key={tool.type}
            tool={tool}
            isOpen={open === tool.type}
            onToggle={onToggle}
            onNewCell={onNewCell}
            describe={describe}
          />
        ))}
      </ul>
    </section>
  );
}
