/** What the sidebar and its views are given. */
import type { JobActions } from '../components/jobs/JobRow';
import type { ManyActions } from '../components/jobs/JobsView';
import type { MemberActions } from '../components/jobs/MemberRow';
import type { EngineRecord } from '../api/responses';
import type { ChoicesModel } from '../models/jobs/choices';
import type { IFoldnote } from '../tokens';

/** The views of the sidebar. */
export type SidebarView = 'jobs' | 'tools' | 'engines' | 'files';

/** Options of the sidebar. */
export interface SidebarOptions extends Omit<JobActions, 'readLog'>, ManyActions, MemberActions {
  readonly foldnote: IFoldnote;
  readonly choices: ChoicesModel;
  readonly onNewCell: (tool: string) => void;
  readonly onInsertFile: (path: string) => void;
  readonly onDeleteFile: (path: string) => void;
  readonly onDeleteFolder: (path: string) => void;
  readonly onInstall: (engine: EngineRecord) => void;
  readonly onRemove: (engine: EngineRecord) => void;
  readonly onCancelEngine: (engine: EngineRecord) => void;
  readonly onRefresh: () => void;
  readonly onConnect: () => void;
  readonly onChooseProfile: (name: string) => void;
}

/** Props of each of its views. */
export interface ContentProps extends SidebarOptions {
  readonly view: SidebarView;
  readonly onView: (view: SidebarView) => void;
}
