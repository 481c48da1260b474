/** The jobs in the sidebar: those of the account, or of the organization's members. It is loaded when they are first shown. */
import { useCallback, type ReactElement } from 'react';

import { JobsView } from '../components/JobsView';
import { lazyComponent } from '../components/later';
import { useStore } from '../components/store';
import type { Choices } from '../models/choices';
import type { ContentProps } from './sidebar';

const MembersView = lazyComponent(async () => (await import('../components/MembersView')).MembersView);

/** The jobs. */
export function JobsTab(props: ContentProps): ReactElement {
  const { jobs, members, tools, selection } = props.foldnote;
  const { choices } = props;
  const state = useStore(jobs);
  const chosen = useStore(choices);
  const selected = useStore(selection);
  const { tools: known } = useStore(tools);
  const toolName = useCallback((type: string) => known?.find(tool => tool.type === type)?.displayName ?? type, [known]);
  const onOlder = useCallback(() => void jobs.loadOlder(), [jobs]);
  const team = useStore(members);
  const onLoad = useCallback(() => void members.refresh(), [members]);
  const onOlderOfMembers = useCallback(() => void members.loadOlder(), [members]);
  const onChoose = (change: Partial<Choices>): void => {
    if (change.whose) {
      selection.clear(); // commands apply to visible jobs only
      members.choose(null);
    }
    choices.choose(change);
  };
  if (chosen.whose === 'organization' && state.service?.isEmbedded === false) {
    return (
      <MembersView
        {...props}
        state={team}
        details={chosen.details}
        toolName={toolName}
        onLoad={onLoad}
        onOlder={onOlderOfMembers}
        onChoose={onChoose}
        onChooseJob={key => members.choose(key)}
        onUnfoldOf={batch => members.toggleBatch(batch)}
      />
    );
  }
  return (
    <JobsView
      {...props}
      state={state}
      choices={chosen}
      selection={selection}
      selected={selected}
      toolName={toolName}
      readLog={jobs.log}
      onChoose={onChoose}
      onUnfold={name => jobs.toggleBatch(name)}
      onOlder={onOlder}
      onRetry={props.onRefresh}
      onShowTools={() => props.onView('tools')}
      onDismissComplaint={() => jobs.dismissComplaint()}
    />
  );
}
