/** The jobs in the sidebar: those of the account, or of the organization's members. It is loaded when they are first shown. */
import { useCallback, type ReactElement } from 'react';

import { JobsView } from '../components/jobs/JobsView';
import { lazyComponent } from '../components/controls/lazyComponent';
import { useStore } from '../components/store';
import type { Choices } from '../models/jobs/choices';
import type { ContentProps } from './sidebaroptions';

const MembersView = lazyComponent(async () => (await import('../components/jobs/MembersView')).MembersView);

/** The jobs. */
export function JobsTab(props: ContentProps): ReactElement {
  const { jobs, members, tools, selection } = props.foldnote;
  const { choices } = props;
  const state = useStore(jobs);
  const displayOptions = useStore(choices);
  const selected = useStore(selection);
  const { tools: catalog } = useStore(tools);
  const toolName = useCallback(
    (type: string) => catalog?.find(tool => tool.type === type)?.displayName ?? type,
    [catalog]
  );
  const onLoadOlder = useCallback(() => void jobs.loadOlder(), [jobs]);
  const membersState = useStore(members);
  const onLoad = useCallback(() => void members.refresh(), [members]);
  const onLoadOlderOfMembers = useCallback(() => void members.loadOlder(), [members]);
  const onChoose = (change: Partial<Choices>): void => {
    if (change.whose) {
      selection.clear(); // commands apply to visible jobs only
      members.choose(null);
    }
    choices.choose(change);
  };
  if (displayOptions.whose === 'organization' && state.service?.isEmbedded === false) {
    return (
      <MembersView
        {...props}
        state={membersState}
        details={displayOptions.details}
        toolName={toolName}
        onLoad={onLoad}
        onLoadOlder={onLoadOlderOfMembers}
        onChoose={onChoose}
        onChooseJob={key => members.choose(key)}
        onToggleBatch={batch => members.toggleBatch(batch)}
      />
    );
  }
  return (
    <JobsView
      {...props}
      state={state}
      choices={displayOptions}
      selection={selection}
      selected={selected}
      toolName={toolName}
      readLog={jobs.log}
      onChoose={onChoose}
      onToggleBatch={name => jobs.toggleBatch(name)}
      onLoadOlder={onLoadOlder}
      onRetry={props.onRefresh}
      onShowTools={() => props.onView('tools')}
      onDismissError={() => jobs.dismissError()}
    />
  );
}
