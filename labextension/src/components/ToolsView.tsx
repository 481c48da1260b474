/** The catalog: what the service can do, what runs here and by which method. */
import { useMemo, useState, type ReactElement } from 'react';

import type { ToolRecord } from '../api/answers';
import { methodOf, searchTools, type ToolsState } from '../models/tools';
import { PlusIcon } from './icons';
import { Notice } from './Notice';
import { SearchBox } from './SearchBox';
import { ServiceNotice } from './ServiceNotice';

/** What the view needs. */
export interface ToolsViewProps {
  readonly state: ToolsState;
  readonly onNewCell: (tool: string) => void;
  readonly onRetry: () => void;
}

/** The tools of the service. */
export function ToolsView({ state, onNewCell, onRetry }: ToolsViewProps): ReactElement {
  const { tools, service, lost, isAsking } = state;
  const [query, setQuery] = useState('');
  const found = useMemo(() => searchTools(tools ?? [], query), [tools, query]);
  const ready = found.filter(tool => tool.available);
  const others = found.filter(tool => !tool.available);
  const hasTools = tools !== null && tools.length > 0;
  return (
    <div className="fn-View">
      <ServiceNotice service={service} lost={lost} now={Date.now()} isWhole={!hasTools} onRetry={onRetry} />
      {tools === null && isAsking && <Notice tone="busy" title="Asking for the tools" isWhole />}
      {service?.state === 'ok' && tools?.length === 0 && (
        <Notice tone="plain" title="No tools" isWhole action={{ label: 'Ask again', onClick: onRetry }}>
          The service lists no tools.
        </Notice>
      )}
      {hasTools && (
        <>
          <div className="fn-Toolbar">
            <SearchBox label="Search tools" value={query} onChange={setQuery} />
          </div>
          <ToolSection
            title={service?.isEmbedded ? 'Run on this computer' : 'Ready to run'}
            tools={ready}
            onNewCell={onNewCell}
          />
          <ToolSection title="Known, but nothing runs them here" tools={others} onNewCell={onNewCell} />
          {found.length === 0 && (
            <Notice
              tone="plain"
              title="No tool matches"
              isWhole
              action={{ label: 'Show all tools', onClick: () => setQuery('') }}
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
  readonly onNewCell: (tool: string) => void;
}

function ToolSection({ title, tools, onNewCell }: ToolSectionProps): ReactElement | null {
  if (tools.length === 0) {
    return null;
  }
  return (
    <section aria-label={title}>
      <h3 className="fn-Section">
        {title} <span className="fn-Filter-count">{tools.length}</span>
      </h3>
      <ul className="fn-ToolList">
        {tools.map(tool => (
          <ToolItem key={tool.type} tool={tool} onNewCell={onNewCell} />
        ))}
      </ul>
    </section>
  );
}

function ToolItem(props: {
  readonly tool: ToolRecord;
  readonly onNewCell: (tool: string) => void;
}): ReactElement {
  const { tool, onNewCell } = props;
  const method = methodOf(tool);
  return (
    <li className={`fn-Tool${tool.available ? '' : ' fn-mod-unavailable'}`}>
      <div className="fn-Tool-name">
        <bdi>{tool.displayName}</bdi>
      </div>
      <button
        type="button"
        className="fn-Button fn-mod-small"
        aria-label={`New cell with the form of ${tool.displayName}`}
        title="Insert a cell with this tool’s form"
        onClick={() => onNewCell(tool.type)}
      >
        <PlusIcon /> New cell
      </button>
      <p className="fn-Tool-text" title={tool.description}>
        {tool.description}
      </p>
      {tool.available && method !== '' && (
        <p className="fn-Tool-method" title={tool.engine?.note ?? undefined}>
          Method: {method}
        </p>
      )}
      {!tool.available && tool.unavailableReason !== null && (
        <p className="fn-Tool-reason" title={tool.unavailableReason}>
          {tool.unavailableReason}
        </p>
      )}
    </li>
  );
}
