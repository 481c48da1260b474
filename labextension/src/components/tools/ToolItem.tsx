/** One tool: description, method, details, and a button to insert a cell with its form. */
import { addIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { ToolResponse, ToolRecord } from '../../api/responses';
import { methodOf } from '../../models/service/tools';
import { CodeText } from '../controls/CodeText';
import { FoldIcon, Glyph } from '../controls/icons';
import { ToolFacts } from './ToolFacts';
import { useTranslation } from '../translation';

/** Props of a tool. */
export interface ToolItemProps {
  readonly tool: ToolRecord;
  readonly isOpen: boolean;
  readonly onNewCell: (tool: string) => void;
  readonly onToggle: (tool: string) => void;
  readonly describe: (tool: string) => Promise<ToolResponse>;
}

/** A tool in the list. */
export function ToolItem(props: ToolItemProps): ReactElement {
  const { tool, isOpen, onNewCell } = props;
  const trans = useTranslation();
  const method = methodOf(tool, trans);
  return (
    <li
      id={`fn-tool-${tool.type}`}
      className={`fn-Tool${tool.available ? '' : ' fn-mod-unavailable'}${isOpen ? ' fn-mod-open' : ''}`}
    >
      <div className="fn-Tool-name">
        <button type="button" className="fn-Fold" aria-expanded={isOpen} onClick={() => props.onToggle(tool.type)}>
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
        <Glyph icon={addIcon} /> {trans.__('New cell')}
      </button>
      <p className="fn-Tool-text" title={isOpen ? undefined : tool.description}>
        {tool.description}
      </p>
      {tool.available && method !== '' && (
        <p className="fn-Tool-method" title={tool.engine?.note ?? undefined}>
          {trans.__('Method: %1', method)}
        </p>
      )}
      {isOpen && !tool.available && tool.unavailableReason !== null && (
        <p className="fn-Tool-reason">
          <CodeText text={tool.unavailableReason} />
        </p>
      )}
      {isOpen && <ToolFacts {...props} />}
    </li>
  );
}
