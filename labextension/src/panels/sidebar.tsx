/** The sidebar as a Lumino widget: it watches while it can be seen and hands plain data to the views. */
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { useSyncExternalStore, type ReactElement } from 'react';

import { IconButton } from '../components/IconButton';
import { RefreshIcon } from '../components/icons';
import { JobsView } from '../components/JobsView';
import { Tabs, type Tab } from '../components/Tabs';
import { ToolsView } from '../components/ToolsView';
import type { IFoldnote } from '../tokens';

/** The views of the sidebar. */
export type SidebarView = 'jobs' | 'tools';

/** What the sidebar needs. */
export interface SidebarOptions {
  readonly foldnote: IFoldnote;
  readonly onNewCell: (tool: string) => void;
  readonly onInsert: (job: string) => void;
  readonly onStop: (job: string) => void;
  readonly onDelete: (job: string) => void;
  readonly onRefresh: () => void;
}

const TABS: readonly Tab<SidebarView>[] = [
  { key: 'jobs', label: 'Jobs' },
  { key: 'tools', label: 'Tools' }
];

/** Jobs and tools. */
export class Sidebar extends ReactWidget {
  constructor(options: SidebarOptions) {
    super();
    this.options = options;
    this.addClass('fn-Sidebar');
  }

  /** Brings one of the views to the front; without one, shows the widget as Lumino does. */
  override show(view?: SidebarView): void {
    super.show();
    if (view) {
      this.choose(view);
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.watch();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this.watch();
    }
  }

  protected override onBeforeHide(message: Message): void {
    this.unwatch();
    super.onBeforeHide(message);
  }

  protected override onBeforeDetach(message: Message): void {
    this.unwatch();
    super.onBeforeDetach(message);
  }

  protected override render(): ReactElement {
    return <SidebarContent {...this.options} view={this.view} onView={view => this.choose(view)} />;
  }

  private choose(view: SidebarView): void {
    this.view = view;
    this.update();
  }

  private watch(): void {
    this.stopWatching ??= this.options.foldnote.jobs.watch();
    void this.options.foldnote.tools.load();
  }

  private unwatch(): void {
    this.stopWatching?.();
    this.stopWatching = null;
  }

  private readonly options: SidebarOptions;
  private view: SidebarView = 'jobs';
  private stopWatching: (() => void) | null = null;
}

interface ContentProps extends SidebarOptions {
  readonly view: SidebarView;
  readonly onView: (view: SidebarView) => void;
}

function SidebarContent(props: ContentProps): ReactElement {
  const { view, onView, onRefresh } = props;
  return (
    <Tabs
      label="Protein analysis"
      tabs={TABS}
      chosen={view}
      onChoose={onView}
      extra={
        <IconButton label="Refresh" onClick={onRefresh}>
          <RefreshIcon />
        </IconButton>
      }
    >
      {view === 'jobs' ? <JobsTab {...props} /> : <ToolsTab {...props} />}
    </Tabs>
  );
}

function JobsTab(props: ContentProps): ReactElement {
  const { jobs, tools } = props.foldnote;
  const state = useSyncExternalStore(jobs.subscribe, jobs.state);
  useSyncExternalStore(tools.subscribe, tools.state); // names of tools appear when the catalog does
  return (
    <JobsView
      state={state}
      toolName={type => tools.displayName(type)}
      onStop={props.onStop}
      onInsert={props.onInsert}
      onDelete={props.onDelete}
      readLog={name => jobs.log(name)}
      onRetry={props.onRefresh}
      onShowTools={() => props.onView('tools')}
      onDismissComplaint={() => jobs.dismissComplaint()}
    />
  );
}

function ToolsTab({ foldnote, onNewCell }: ContentProps): ReactElement {
  const { tools } = foldnote;
  const state = useSyncExternalStore(tools.subscribe, tools.state);
  return <ToolsView state={state} onNewCell={onNewCell} onRetry={() => void tools.refresh()} />;
}
