/**
 * Names for the generated wire types, as the rest of the extension uses them.
 */
import type { components } from './wire';

type Schemas = components['schemas'];

/** One job as the sidebar knows it: no settings, no result link. */
export type JobRecord = Omit<Known<Schemas['Job']>, 'settings' | 'resultUrl'>;

/** One tool of the catalog, without its schema. */
export type ToolRecord = Omit<Known<Schemas['Tool']>, 'schema' | 'exampleJob'>;

/** The four statuses of the interface. */
export type JobStatus = Schemas['JobStatus'];

/** Jobs by status. */
export type StatusCounts = Known<Schemas['StatusCounts']>;

/** Which service answers, and how it is. */
export type ServiceReport = Known<Schemas['ServiceReport']>;

/** Every job that the server's poller knows, newest first. */
export interface JobsAnswer {
  readonly jobs: readonly JobRecord[];
  readonly statuses: StatusCounts;
  readonly service: ServiceReport;
}

/** The catalog of the service. */
export interface ToolsAnswer {
  readonly tools: readonly ToolRecord[];
  readonly service: ServiceReport;
}

/** An answer that may be "as before": `body` is null when the tag still holds. */
export interface Tagged<T> {
  readonly body: T | null;
  readonly tag: string | null;
}

/** The named fields of a record that also keeps unknown ones. */
type Known<T> = {
  readonly [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K];
};
