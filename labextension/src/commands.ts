/**
 * Names of the commands, and what they take. Menus, launcher, palette and views all go through these.
 */
import type { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';

/** Every command of the extension. */
export const CommandIDs = {
  /** Takes {@link NewCellArgs}. */
  newCell: 'foldnote:new-cell',
  /** Takes {@link JobArgs}. */
  loadJob: 'foldnote:load-job',
  /** Takes {@link JobArgs}. */
  stopJob: 'foldnote:stop-job',
  /** Takes {@link JobArgs}. */
  deleteJob: 'foldnote:delete-job',
  refresh: 'foldnote:refresh',
  showJobs: 'foldnote:show-jobs',
  showTools: 'foldnote:show-tools'
} as const;

/** What `foldnote:new-cell` takes. */
export interface NewCellArgs extends ReadonlyJSONObject {
  /** Type of the tool whose form is inserted. */
  readonly tool: string;
}

/** What the commands about one job take. */
export interface JobArgs extends ReadonlyJSONObject {
  /** Name of the job. */
  readonly job: string;
}

/** The text under `key`; empty when the caller gave none. */
export function readText(args: ReadonlyPartialJSONObject, key: string): string {
  const value = args[key];
  return typeof value === 'string' ? value : '';
}
