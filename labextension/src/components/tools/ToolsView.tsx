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
  const { tools, service, connectionError } = props.state;
  const trans = useTranslation();
  const [query, setQuery] = useState('');
  const { openTool, toggleTool, showTool } = useOpenTool();
  const matching = useMemo(() => searchTools(tools ?? [], query), [tools, query]);
  const hasTools = tools !== null && tools.length > 0;
  return (
    <div className="fn-View">
      <ServiceNotice
        service={service}
        connectionError={connectionError}
        now={Date.now()}
        fillsView={!hasTools}
        onRetry={props.onRetry}
      />
      <EmptyNotice {...props} />
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
              onChoose={showTool}
            />
          )}
          <ToolSections {...props} tools={matching} isSearch={query !== ''} open={openTool} onToggle={toggleTool} />
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

/** Which tool is expanded. */
interface OpenTool {
  /** Null for none. */
  readonly openTool: string | null;
  readonly toggleTool: (tool: string) => void;
  /** Expands the tool and scrolls to it. */
  readonly showTool: (tool: string) => void;
}

/** Expands at most one tool at a time. */
function useOpenTool(): OpenTool {
  const [openTool, setOpenTool] = useState<string | null>(null);
  const [shownTool, setShownTool] = useState<string | null>(null);
  useEffect(() => {
    if (shownTool !== null) {
      document.getElementById(`fn-tool-${shownTool}`)?.scrollIntoView({ block: 'center' });
      setShownTool(null);
    }
  }, [shownTool]);
  return {
    openTool,
    toggleTool: tool => setOpenTool(before => (before === tool ? null : tool)),
    showTool: tool => {
      setOpenTool(tool);
      setShownTool(tool);
    }
  };
}

/** A notice while the tools are loading, or if the service has none. */
function EmptyNotice({ state, onRetry }: ToolsViewProps): ReactElement | null {
  const { tools, service, isLoading } = state;
  const trans = useTranslation();
  if (tools === null) {
    return isLoading ? <Notice tone="busy" title={trans.__('Loading tools')} fillsView /> : null;
  }
  return service?.state === 'ok' && tools.length === 0 ? (
    <Notice
      tone="plain"
      title={trans.__('No tools')}
      fillsView
      action={{ label: trans.__('Try again'), onClick: onRetry }}
    >
      {trans.__('The service lists no tools.')}
    </Notice>
  ) : null;
}

interface ToolSectionsProps extends ToolsViewProps {
  readonly tools: readonly ToolRecord[];
  /** Whether the tools are results of a search. */
  readonly isSearch: boolean;
  /** The expanded tool; null for none. */
  readonly open: string | null;
  readonly onToggle: (tool: string) => void;
}

/** The tools in sections by what is needed to run them. */
function ToolSections(props: ToolSectionsProps): ReactElement {
  const { tools, isSearch } = props;
  const trans = useTranslation();
  const available = tools.filter(tool => tool.available);
  const withEngine = tools.filter(tool => !tool.available && tool.engine !== null);
  const adapters = withEngine.filter(tool => tool.engine?.kind === 'adapter');
  const installable = withEngine.filter(tool => tool.engine?.kind !== 'adapter');
  const elsewhere = tools.filter(tool => !tool.available && tool.engine === null);
  const isEmbedded = props.state.service?.isEmbedded ?? false;
  const isCollapsible = !isSearch && available.length > 0;
  return (
    <>
      <ToolSection
        {...props}
        title={isEmbedded ? trans.__('Run on this computer') : trans.__('Ready to run')}
        tools={available}
      />
      <ToolSection
        {...props}
        title={trans.__('Can be installed')}
        hint={trans.__('Install their engines under Engines.')}
        tools={installable}
        isCollapsible={isCollapsible}
      />
      <ToolSection
        {...props}
        title={trans.__('Run with your own copy of the program')}
        hint={trans.__('Install the program and give its location in the service’s configuration.')}
        tools={adapters}
        isCollapsible={isCollapsible}
      />
      <ToolSection
        {...props}
        title={isEmbedded ? trans.__('Not available on this computer') : trans.__('Not available at this service')}
        hint={trans.__('No engine runs them here. Use another service, or configure a command of your own.')}
        tools={elsewhere}
        isCollapsible={isCollapsible}
      />
    </>
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
