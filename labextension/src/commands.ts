/**
 * Names of the commands, and what they take. Menus, launcher, palette and views all go through these.
 */
import type { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** Every command of the extension. */
export const CommandIDs = {
  /** Takes {@link NewCellArgs}. */
  newCell: 'foldnote:new-cell',
  /** The same, labelled with the tool's name alone: for menus and cards. */
  launchTool: 'foldnote:launch-tool',
  /** Takes {@link JobArgs}, as the next ones do. Without a job, they are about the selected ones. */
  openJob: 'foldnote:open-job',
  loadJob: 'foldnote:load-job',
  againJob: 'foldnote:again-job',
  downloadJob: 'foldnote:download-job',
  copyJob: 'foldnote:copy-job-name',
  tagJob: 'foldnote:tag-job',
  keepJob: 'foldnote:keep-job',
  stopJob: 'foldnote:stop-job',
  deleteJob: 'foldnote:delete-job',
  /** Takes {@link FileArgs}. */
  insertFile: 'foldnote:insert-file',
  deleteFile: 'foldnote:delete-file',
  deleteFolder: 'foldnote:delete-folder',
  notifyInBrowser: 'foldnote:notify-in-browser',
  connect: 'foldnote:connect',
  refresh: 'foldnote:refresh',
  showJobs: 'foldnote:show-jobs',
  showTools: 'foldnote:show-tools',
  showFiles: 'foldnote:show-files',
  showEngines: 'foldnote:show-engines'
} as const;

/** What `foldnote:new-cell` takes. */
export interface NewCellArgs extends ReadonlyJSONObject {
  /** Type of the tool whose form is inserted. */
  readonly tool: string;
}

/** What the commands about jobs take. */
export interface JobArgs extends ReadonlyPartialJSONObject {
  /** Name of the job. */
  readonly job?: string;
  /** Address of the member of the organization whose job it is; one's own without. */
  readonly member?: string;
  /** Name of the profile of its service; the chosen one without. */
  readonly profile?: string;
  /** Names of several jobs. */
  readonly jobs?: string[];
}

/** What the commands about files take. */
export interface FileArgs extends ReadonlyPartialJSONObject {
  /** The file as a setting names it, or its path in the result of `job`. */
  readonly path: string;
  /** The job whose result holds it; an upload without. */
  readonly job?: string;
  /** Address of the member of the organization whose job that is; one's own without. */
  readonly member?: string;
  /** Name of the profile of its service; the chosen one without. */
  readonly profile?: string;
}

/** Place of the letter that chooses a menu's entry by keyboard; none where a translation lacks it. */
export function mnemonicOf(label: string, letter: string): number {
  return label.toLowerCase().indexOf(letter);
}

/** The text under `key`; empty when the caller gave none. */
export function readText(args: ReadonlyPartialJSONObject, key: string): string {
  const value = args[key];
  return typeof value === 'string' ? value : '';
}

/** The texts under `key`; none when the caller gave none. */
export function readTexts(args: ReadonlyPartialJSONObject, key: string): readonly string[] {
  const value = args[key];
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : [];
}
