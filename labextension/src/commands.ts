/**
 * Names and arguments of the commands, which menus, launcher, palette and views use.
 */
import type { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** Every command of the extension. */
export const CommandIDs = {
  /** Takes {@link NewCellArgs}. */
  newCell: 'foldnote:new-cell',
  /** The same, labelled with the tool's name alone: for menus and cards. */
  launchTool: 'foldnote:launch-tool',
  browseTools: 'foldnote:browse-tools',
  /** Applies to the active cell of the current notebook. */
  formOfCell: 'foldnote:form-of-cell',
  exampleNotebook: 'foldnote:example-notebook',
  /** Takes {@link JobArgs}, as the next ones do. Without a job, they apply to the selected ones. */
  openJob: 'foldnote:open-job',
  loadJob: 'foldnote:load-job',
  againJob: 'foldnote:again-job',
  compareJobs: 'foldnote:compare-jobs',
  downloadJob: 'foldnote:download-job',
  copyJob: 'foldnote:copy-job-name',
  tagJob: 'foldnote:tag-job',
  shareJob: 'foldnote:share-job',
  keepJob: 'foldnote:keep-job',
  stopJob: 'foldnote:stop-job',
  deleteJob: 'foldnote:delete-job',
  openShared: 'foldnote:open-shared',
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

/** Arguments of `foldnote:new-cell`. */
export interface NewCellArgs extends ReadonlyJSONObject {
  /** Type of the tool whose form is inserted. */
  readonly tool: string;
}

/** Arguments of commands about jobs. */
export interface JobArgs extends ReadonlyPartialJSONObject {
  /** Name of the job. */
  readonly job?: string;
  /** Address of the organization's member who owns the job; your own if absent. */
  readonly member?: string;
  /** Name of the profile of its service; the selected one if absent. */
  readonly profile?: string;
  /** The mark of the link by which a colleague shared it; for tabs that are restored. */
  readonly share?: string;
  /** Names of several jobs. */
  readonly jobs?: string[];
}

/** Arguments of commands about files. */
export interface FileArgs extends ReadonlyPartialJSONObject {
  /** The path that a setting uses for the file, or its path in the result of `job`. */
  readonly path: string;
  /** The job whose result has the file; an upload if absent. */
  readonly job?: string;
  /** Address of the organization's member who owns that job; your own if absent. */
  readonly member?: string;
  /** Name of the profile of its service; the selected one if absent. */
  readonly profile?: string;
}

/** Index of the mnemonic letter of a menu entry; none if a translation lacks the letter. */
export function mnemonicOf(label: string, letter: string): number {
  return label.toLowerCase().indexOf(letter);
}

/** The string argument `key`; empty if absent. */
export function readText(args: ReadonlyPartialJSONObject, key: string): string {
  const value = args[key];
  return typeof value === 'string' ? value : '';
}

/** The string list argument `key`; empty if absent. */
export function readTexts(args: ReadonlyPartialJSONObject, key: string): readonly string[] {
  const value = args[key];
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];
}
