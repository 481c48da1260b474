/** The service's catalog: tools, availability and methods. */
import { useEffect, useMemo, useState, type ReactElement } from 'react';

import type { AdviceResponse, ToolResponse, ToolRecord } from '../../api/responses';
import { formatCount } from '../../models/formatting/text';
import { familyIcon } from '../../kindIcons';
import { groupTools, searchTools, type ToolsState } from '../../models/service/tools';
import { AdviceBox } from './AdviceBox';
import { FoldIcon, Glyph } from '../controls/icons';
import { Notice } from '../controls/Notice';
import { SearchBox } from '../controls/SearchBox';
import { ServiceNotice } from '../service/ServiceNotice';
import { ToolItem } from './ToolItem';
import { useTranslation } from '../translation';

/** Props of the view. */
export interface ToolsViewProps {
  readonly state: ToolsState;
  readonly toolName: (type: string) => string;
  readonly onNewCell: (tool: string) => void;
  readonly onRetry: () => void;
  readonly advise: (prompt: string) => Promise<AdviceResponse>;
  readonly describe: (tool: string) => Promise<ToolResponse>;
}

/** The tools of the service. */
export function ToolsView(props: ToolsViewProps): ReactElement {
  const { state, onRetry } = props;
  const trans = useTranslation();
  const { tools, service, connectionError, isLoading } = state;
  const [query, setQuery] = useState('');
  const [open, setOpen] = useState<string | null>(null);
  const matching = useMemo(() => searchTools(tools ?? [], query), [tools, query]);
  const available = matching.filter(tool => tool.available);
  const withEngine = matching.filter(tool => !tool.available && tool.engine !== null);
  const adapters = withEngine.filter(tool => tool.engine?.kind === 'adapter');
  const installable = withEngine.filter(tool => tool.engine?.kind !== 'adapter');
  const elsewhere = matching.filter(tool => !tool.available && tool.engine === null);
  const hasTools = tools !== null && tools.length > 0;
  const isEmbedded = service?.isEmbedded ?? false;
  const isCollapsible = query === '' && available.length > 0;
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
      <ServiceNotice
        service={service}
        connectionError={connectionError}
        now={Date.now()}
        fillsView={!hasTools}
        onRetry={onRetry}
      />
      {tools === null && isLoading && <Notice tone="busy" title={trans.__('Loading tools')} fillsView />}
      {service?.state === 'ok' && tools?.length === 0 && (
        <Notice
          tone="plain"
          title={trans.__('No tools')}
          fillsView
          action={{ label: trans.__('Try again'), onClick: onRetry }}
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
            <AdviceBox
              advise={props.advise}
              toolName={props.toolName}
              canRun={type => tools.some(tool => tool.type === type && tool.available)}
              onChoose={tool => {
                setOpen(tool);
                setShownTool(tool);
              }}
            />
          )}
          <ToolSection
            title={isEmbedded ? trans.__('Run on this computer') : trans.__('Ready to run')}
            tools={available}
            {...section}
          />
          <ToolSection
            title={trans.__('Can be installed')}
            hint={trans.__('Install their engines under Engines.')}
            tools={installable}
            isCollapsible={isCollapsible}
            {...section}
          />
          <ToolSection
            title={trans.__('Run with your own copy of the program')}
            hint={trans.__('Install the program and give its location in the service’s configuration.')}
            tools={adapters}
            isCollapsible={isCollapsible}
            {...section}
          />
          <ToolSection
            title={isEmbedded ? trans.__('Not available on this computer') : trans.__('Not available at this service')}
            hint={trans.__('No engine runs them here. Use another service, or configure a command of your own.')}
            tools={elsewhere}
            isCollapsible={isCollapsible}
            {...section}
          />
          {matching.length === 0 && (
            <Notice
              tone="plain"
              title={trans.__('No matching tools')}
              fillsView
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
  /** A hint that applies to all of them, shown once. */
  readonly hint?: string;
  readonly tools: readonly ToolRecord[];
  /** Whether it is collapsed until its title is clicked. */
  readonly isCollapsible?: boolean;
  readonly open: string | null;
  readonly onToggle: (tool: string) => void;
  readonly onNewCell: (tool: string) => void;
  readonly describe: (tool: string) => Promise<ToolResponse>;
}

/** Tools of the same availability, by family. */
function ToolSection(props: ToolSectionProps): ReactElement | null {
  const { title, hint, tools, isCollapsible = false, open, onToggle, onNewCell, describe } = props;
  const [isShown, setShown] = useState(false);
  const families = useMemo(() => groupTools(tools), [tools]);
  const hasOpen = tools.some(tool => tool.type === open);
  if (tools.length === 0) {
    return null;
  }
  const areShown = !isCollapsible || isShown || hasOpen;
  const heading = (
    <>
      {title} <span className="fn-Filter-count">{formatCount(tools.length)}</span>
    </>
  );
  return (
    <section className="fn-ToolSection" aria-label={title}>
      <h3 className="fn-Section">
        {isCollapsible ? (
          <button type="button" className="fn-Fold" aria-expanded={areShown} onClick={() => setShown(!areShown)}>
            <FoldIcon isOpen={areShown} />
            <span>{heading}</span>
          </button>
        ) : (
          heading
        )}
      </h3>
      {areShown && hint !== undefined && <p className="fn-Section-hint">{hint}</p>}
      {areShown &&
        families.map(({ type, family, tools: members }) => (
          <div key={type} role="group" aria-label={family}>
            <h4 className="fn-Family">
              <Glyph icon={familyIcon(type)} /> {family}
            </h4>
            <ul className="fn-ToolList">
              {members.map(tool => (
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
          </div>
        ))}
    </section>
  );
}
