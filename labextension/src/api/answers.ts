/**
 * Names for the generated wire types, as the rest of the extension uses them.
 */
import type { components } from './wire';

type Schemas = components['schemas'];

/** What only the parent of a batch has. */
type ParentField = 'tool' | 'batchStatus' | 'batchSize' | 'statuses' | 'failed';

/** What only some jobs have: a note of the server's computer. */
type NoteField = 'tags' | 'notebook' | 'isLeaving';

/** One job as the sidebar knows it: no settings, no result link; only the parent of a batch has a batch's fields. */
export type JobRecord = Omit<Known<Schemas['PageJob']>, 'settings' | 'resultUrl' | ParentField | NoteField> &
  Partial<Pick<Known<Schemas['PageJob']>, ParentField | NoteField>>;

/** One tool of the catalog, without its schema. */
export type ToolRecord = Omit<Known<Schemas['Tool']>, 'schema' | 'exampleJob'>;

/** The four statuses of the interface. */
export type JobStatus = Schemas['JobStatus'];

/** Jobs by status. */
export type StatusCounts = Known<Schemas['StatusCounts']>;

/** Which service answers, and how it is. */
export type ServiceReport = Known<Schemas['ServiceReport']>;

/** Jobs of the server's poller, newest first: all, or those that are other than before. */
export interface JobsAnswer {
  readonly jobs: readonly JobRecord[];
  readonly removed: readonly string[];
  readonly isWhole: boolean;
  readonly statuses: StatusCounts;
  readonly olderKey: string | null;
  readonly service: ServiceReport;
}

/** A page of older jobs, or of a batch's. */
export interface OlderAnswer {
  readonly jobs: readonly JobRecord[];
  readonly olderKey: string | null;
}

/** One job, whether or not a list holds it; null when the service has none of this name. */
export interface RecordAnswer {
  readonly job: JobRecord | null;
}

/** Which job is meant: members of an organization, and accounts at several services, may use one name. */
export interface JobPlace {
  readonly job: string;
  /** Address of the member of the organization whose job it is; null for one's own. */
  readonly member: string | null;
  /** Name of the profile of its service; null for the one that is chosen. */
  readonly profile: string | null;
}

/** The catalog of the service. */
export interface ToolsAnswer {
  readonly tools: readonly ToolRecord[];
  readonly service: ServiceReport;
}

/** What a person wants to know of one tool. */
export type ToolAnswer = Known<Schemas['ToolAnswer']>;

/** Tools for a described task. */
export type AdviceAnswer = Known<Schemas['AdviceAnswer']>;

/** One uploaded file. */
export type FileRecord = Known<Schemas['FileRecord']>;

/** How far a file is on its way. */
export type UploadAnswer = Known<Schemas['UploadAnswer']>;

/** A page of the account's files. */
export interface FilesAnswer {
  readonly files: readonly FileRecord[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** One service that can be chosen. */
export type ProfileRecord = Known<Schemas['ProfileRecord']>;

/** The services that can be chosen. */
export interface ProfilesAnswer {
  readonly profiles: readonly ProfileRecord[];
}

/** What came of trying a connection. */
export type ConnectionVerdict = Known<Schemas['ConnectionVerdict']>;

/** One program that runs tools on the server's computer. */
export type EngineRecord = Known<Schemas['EngineRecord']>;

/** What can be done to an engine. */
export type EngineAction = 'install' | 'remove' | 'cancel';

/** The programs of the server's computer. */
export interface EnginesAnswer {
  readonly engines: readonly EngineRecord[];
}

/** What is known of the account behind the key. */
export type AccountAnswer = Known<Schemas['AccountAnswer']>;

/** A result, laid out for a page. */
export type ResultAnswer = Known<Schemas['ResultAnswer']>;

/** An answer that may be "as before": `body` is null when the tag still holds. */
export interface Tagged<T> {
  readonly body: T | null;
  readonly tag: string | null;
}

/** The named fields of a record that also keeps unknown ones. */
type Known<T> = {
  readonly [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K];
};
