/** Names for the generated wire types, for use in the rest of the extension. */
import type { components } from './wire';

type Schemas = components['schemas'];

/** Fields of batch parents only. */
type ParentField = 'tool' | 'batchStatus' | 'batchSize' | 'statuses' | 'failed';

/** Fields of some jobs only: notes kept on the server's computer. */
type NoteField = 'tags' | 'notebook' | 'isLeaving' | 'localLabel' | 'note';

/** A job as listed in the sidebar, without settings and result link; only batch parents have a batch's fields. */
export type JobRecord = Omit<Known<Schemas['PageJob']>, 'settings' | 'resultUrl' | ParentField | NoteField> &
  Partial<Pick<Known<Schemas['PageJob']>, ParentField | NoteField>>;

/** One tool of the catalog, without its schema. */
export type ToolRecord = Omit<Known<Schemas['Tool']>, 'schema' | 'exampleJob'> & {
  /** Lower-case text in which a search finds the tool; missing in responses of a server that runs an older version. */
  readonly searchText?: string;
};

/** Number of jobs by status. */
export type StatusCounts = Known<Schemas['StatusCounts']>;

/** The service and its state. */
export type ServiceReport = Known<Schemas['ServiceReport']>;

/** Jobs of the server's poller, newest first: all, or only those that changed. */
export interface JobsResponse {
  readonly jobs: readonly JobRecord[];
  readonly removed: readonly string[];
  readonly isWhole: boolean;
  readonly statuses: StatusCounts;
  readonly olderKey: string | null;
  readonly service: ServiceReport;
}

/** A page of older jobs, or of a batch's. */
export interface OlderResponse {
  readonly jobs: readonly JobRecord[];
  readonly olderKey: string | null;
}

/** One job, listed or not; null if the service has none of this name. */
export interface RecordResponse {
  readonly job: JobRecord | null;
}

/** Identifies a job: members of an organization, and accounts at several services, may use the same name. */
export interface JobRef {
  readonly job: string;
  /** Address of the organization's member who owns the job; null for your own. */
  readonly member: string | null;
  /** Name of the profile of its service; null for the selected one. */
  readonly profile: string | null;
  /** The mark of the link by which a colleague shared it; absent or empty for other jobs. */
  readonly share?: string;
}

/** The catalog of the service. */
export interface ToolsResponse {
  readonly tools: readonly ToolRecord[];
  readonly service: ServiceReport;
}

/** Details of one tool. */
export type ToolResponse = Known<Schemas['ToolResponse']>;

/** Tools for a described task. */
export type AdviceResponse = Known<Schemas['AdviceResponse']>;

/** One uploaded file. */
export type FileRecord = Known<Schemas['FileRecord']>;

/** Progress of an upload. */
export type UploadResponse = Known<Schemas['UploadResponse']>;

/** A page of the account's files. */
export interface FilesResponse {
  readonly files: readonly FileRecord[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** One service that can be selected. */
export type ProfileRecord = Known<Schemas['ProfileRecord']>;

/** The services that can be selected. */
export interface ProfilesResponse {
  readonly profiles: readonly ProfileRecord[];
}

/** Result of testing a connection. */
export type ConnectionVerdict = Known<Schemas['ConnectionVerdict']>;

/** One engine on the server's computer. */
export type EngineRecord = Known<Schemas['EngineRecord']>;

/** Operations on an engine; `complete` also installs its optional weights. */
export type EngineAction = 'install' | 'complete' | 'remove' | 'cancel';

/** The engines of the server's computer. */
export interface EnginesResponse {
  readonly engines: readonly EngineRecord[];
}

/** The account of the key, as far as it is known. */
export type AccountResponse = Known<Schemas['AccountResponse']>;

/** A result, rendered for display. */
export type ResultResponse = Known<Schemas['ResultResponse']>;

/** A link with which colleagues open a job; only a new one has its address. */
export type ShareRecord = Known<Schemas['Share']>;

/** The forms of the calls in a cell; at least one. */
export type FormCellsResponse = Known<Schemas['FormCellsResponse']>;

/** A cell that shows the form of one call in another cell. */
export type FormCell = Known<Schemas['FormCellRecord']>;

/** The account's valid links to one job. */
export interface SharesResponse {
  readonly shares: readonly ShareRecord[];
}

/** The job that a colleague's link opens. */
export interface SharedResponse {
  readonly url: string;
  /** Identifier with which the Jupyter server finds the link again while it runs. */
  readonly mark: string;
  readonly job: JobRecord;
  readonly settings: string;
  readonly result: ResultResponse;
}

/** A response that may be "not modified": `body` is null if the list still has this tag. */
export interface Tagged<T> {
  readonly body: T | null;
  readonly tag: string | null;
}

/** The known fields of a record that may also have unknown ones. */
type Known<T> = {
  readonly [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K];
};
