/** The sidebar as a Lumino widget: it polls while visible and passes plain data to the views. */
import { refreshIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { ReactElement } from 'react';

import { AccountLine } from '../components/service/AccountLine';
import { IconButton } from '../components/controls/IconButton';
import { lazyComponent } from '../components/controls/lazyComponent';
import { ServiceBar } from '../components/service/ServiceBar';
import { useStore } from '../components/store';
import { Tabs, type Tab } from '../components/controls/Tabs';
import { TranslationContext } from '../components/translation';
import type { ContentProps, SidebarOptions, SidebarView } from './sidebaroptions';
import { VisibilityWidget } from './visibility';

const JobsTab = lazyComponent(async () => (await import('./jobstab')).JobsTab);
const ToolsTab = lazyComponent(async () => (await import('./tabs')).ToolsTab);
const EnginesTab = lazyComponent(async () => (await import('./tabs')).EnginesTab);
const FilesTab = lazyComponent(async () => (await import('./tabs')).FilesTab);

const CONTENTS_MIME = 'application/x-jupyter-icontents';

/** Jobs, tools and files. */
export class Sidebar extends VisibilityWidget {
  constructor(options: SidebarOptions) {
    super();
    this.options = options;
    this.addClass('fn-Sidebar');
  }

  /** The current view. */
  get view(): SidebarView {
    return this.shownView;
  }

  /** Shows one of the views; without an argument, Lumino's `show`. */
  override show(view?: SidebarView): void {
    super.show();
    if (view) {
      this.choose(view);
    }
  }

  /**
   * Moves the keyboard focus into the current view once it is rendered: to the list of jobs, else to its first control.
   */
  focusView(frames = FOCUS_FRAMES): void {
    requestAnimationFrame(() => {
      const isRendered = this.node.querySelector(`[role=tab][aria-selected=true][id$=${this.shownView}]`) !== null;
      const panel = isRendered ? this.node.querySelector('[role=tabpanel]') : null;
      const target =
        panel?.querySelector<HTMLElement>('[role=treegrid]') ?? panel?.querySelector<HTMLElement>(CONTROLS);
      if (target) {
        target.focus();
      } else if (frames > 0) {
        this.focusView(frames - 1);
      }
    });
  }

  /** Accepts files dragged from JupyterLab's file browser. */
  handleEvent(event: Event): void {
    const drag = event as DragEvent & LuminoDrag;
    if (this.shownView !== 'files' || !drag.mimeData.hasData(CONTENTS_MIME)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.toggleClass('fn-mod-over', event.type === 'lm-dragenter' || event.type === 'lm-dragover');
    drag.dropAction = 'copy';
    if (event.type === 'lm-drop') {
      void this.options.foldnote.files.uploadContents(drag.mimeData.getData(CONTENTS_MIME) as string[]);
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    for (const type of DRAG_EVENTS) {
      this.node.addEventListener(type, this);
    }
  }

  protected override onBeforeDetach(message: Message): void {
    for (const type of DRAG_EVENTS) {
      this.node.removeEventListener(type, this);
    }
    super.onBeforeDetach(message);
  }

  protected override render(): ReactElement {
    return (
      <TranslationContext.Provider value={this.options.foldnote.trans}>
        <SidebarContent {...this.options} view={this.shownView} onView={view => this.choose(view)} />
      </TranslationContext.Provider>
    );
  }

  private choose(view: SidebarView): void {
    this.shownView = view;
    if (this.isVisible) {
      this.load();
    }
    this.update();
  }

  protected override watch(): void {
    const { account, jobs, profiles, tools } = this.options.foldnote;
    this.stopWatching ??= jobs.watch();
    void account.load();
    void tools.load();
    void profiles.load();
    this.load();
  }

  /** Requests data that only the current view shows. */
  private load(): void {
    if (this.shownView === 'files') {
      void this.options.foldnote.files.refresh();
    }
  }

  protected override unwatch(): void {
    this.stopWatching?.();
    this.stopWatching = null;
  }

  private readonly options: SidebarOptions;
  private shownView: SidebarView = 'jobs';
  private stopWatching: (() => void) | null = null;
}

/** Number of frames to wait for the view, which may still be loading. */
const FOCUS_FRAMES = 120;
const CONTROLS = 'input, textarea, button:not([disabled])';
const DRAG_EVENTS = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'];

/** The members of Lumino's drag events used here. */
interface LuminoDrag {
  readonly mimeData: { hasData(type: string): boolean; getData(type: string): unknown };
  dropAction: string;
}

function SidebarContent(props: ContentProps): ReactElement {
  const { view, onView, onRefresh, foldnote } = props;
  const { jobs, profiles, trans } = foldnote;
  const { service, connectionError } = useStore(jobs);
  const profilesState = useStore(profiles);
  const { account } = useStore(foldnote.account);
  const tabs: readonly Tab<SidebarView>[] = [
    { key: 'jobs', label: trans.__('Jobs') },
    { key: 'tools', label: trans.__('Tools') },
    { key: 'engines', label: trans.__('Engines') },
    { key: 'files', label: trans.__('Files') }
  ];
  return (
    <>
      <Tabs
        id="sidebar"
        label={trans.__('Protein analysis')}
        tabs={tabs}
        chosen={view}
        onChoose={onView}
        extra={<IconButton icon={refreshIcon} label={trans.__('Refresh')} onClick={onRefresh} />}
      >
        {view === 'jobs' && <JobsTab {...props} />}
        {view === 'tools' && <ToolsTab {...props} />}
        {view === 'engines' && <EnginesTab {...props} />}
        {view === 'files' && <FilesTab {...props} />}
      </Tabs>
      <AccountLine account={account} claimAddress={foldnote.api.claimAddress()} />
      <ServiceBar
        service={service}
        isDisconnected={connectionError !== null}
        state={profilesState}
        onChoose={props.onChooseProfile}
        onConnect={props.onConnect}
      />
    </>
  );
}
