/**
 * Converts jobs to the rows of the list: filtered, sorted, grouped, with the jobs of expanded batches below their batch.
 * Pure functions over plain data.
 */
import type { JobRecord } from '../../api/responses';
import { hasFailures, isBatch, toolType } from './batch';
import type { Choices, Grouping, Sort } from './choices';
import { findLabel } from './label';
import { compareScores, findScore } from '../results/score';
import { shownState, STATES, type ShownState } from './status';
import { formatDay, jobSeconds, queueSeconds } from '../formatting/time';
import { PLAIN, type Trans } from '../translation';

/** A row of the list. */
export type ListRow =
  | { readonly kind: 'job'; readonly key: string; readonly job: JobRecord; readonly level: 1 | 2 }
  | {
      readonly kind: 'group';
      readonly key: string;
      readonly title: string;
      readonly hint: string;
      readonly count: number;
    }
  | { readonly kind: 'note'; readonly key: string; readonly text: string };

/** Data of the list. */
export interface ListData {
  readonly jobs: readonly JobRecord[];
  /** Jobs of expanded batches by the batch's name; null while loading. */
  readonly open: ReadonlyMap<string, readonly JobRecord[] | null>;
  /** Keys of collapsed groups. */
  readonly collapsed: ReadonlySet<string>;
}

/** Context for making rows. */
export interface RowContext {
  /** Display name of a tool. */
  readonly toolName: (type: string) => string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly trans?: Trans;
}

/** The rows for `choices`. */
export function listRows(data: ListData, choices: Choices, context: RowContext): readonly ListRow[] {
  const visibleJobs = sortJobs(filterJobs(data.jobs, choices, context.toolName), choices.sort, context.now);
  if (choices.grouping === 'none') {
    return visibleJobs.flatMap(job => withSubjobs(job, data, context));
  }
  return groupJobs(visibleJobs, choices.grouping, context).flatMap(({ key, title, hint, jobs }) => {
    const header: ListRow = { kind: 'group', key, title, hint, count: jobs.length };
    const rows = data.collapsed.has(key) ? [] : jobs.flatMap(job => withSubjobs(job, data, context));
    return [header, ...rows];
  });
}

/** The jobs that the filter of the selected state lists, whose text contains every word of the query. */
export function filterJobs(
  jobs: readonly JobRecord[],
  { state, query }: Pick<Choices, 'state' | 'query'>,
  toolName: (type: string) => string
): readonly JobRecord[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (state === null && words.length === 0) {
    return jobs;
  }
  return jobs.filter(job => {
    if (state !== null && !isListedAs(job, state)) {
      return false;
    }
    const type = toolType(job);
    const notes = [job.projectTag, ...(job.tags ?? []), notebookName(job.notebook), job.note ?? ''].join(' ');
    const text = `${findLabel(job)} ${job.jobName} ${type} ${toolName(type)} ${notes}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
}

/** Whether the filter of a state lists the job; a batch with failed jobs is also listed among the failed ones. */
function isListedAs(job: JobRecord, state: ShownState): boolean {
  return shownState(job) === state || (state === 'failed' && hasFailures(job));
}

/** Number of jobs that the filter of each state lists. */
export function countListed(jobs: readonly JobRecord[]): ReadonlyMap<ShownState, number> {
  return new Map(STATES.map(({ state }) => [state, jobs.filter(job => isListedAs(job, state)).length]));
}

/** The sort key of a job: its label or name as given, without the marks that represent invisible characters. */
function nameKey(job: JobRecord): string {
  return findLabel(job) || job.jobName;
}

/** Sorts jobs; those without a value come last. */
export function sortJobs(jobs: readonly JobRecord[], sort: Sort, now: number): readonly JobRecord[] {
  const order = STATES.map(row => row.state);
  switch (sort) {
    case 'newest':
      return jobs;
    case 'oldest':
      return [...jobs].reverse();
    case 'ended':
      return sortDescending(jobs, job => (job.completed ? Date.parse(job.completed) : null));
    case 'name':
      return [...jobs].sort((a, b) => nameKey(a).localeCompare(nameKey(b), undefined, { numeric: true }));
    case 'status':
      return [...jobs].sort((a, b) => order.indexOf(shownState(a)) - order.indexOf(shownState(b)));
    case 'duration':
      return sortDescending(jobs, job => jobSeconds(job, now));
    case 'queue':
      return sortDescending(jobs, job => queueSeconds(job, now));
    case 'score':
      return sortByScore(jobs);
  }
}

/** The selectable jobs, in the order of the rows. */
export function selectable(rows: readonly ListRow[]): readonly string[] {
  return rows.flatMap(row => (row.kind === 'job' ? [row.job.jobName] : []));
}

function withSubjobs(job: JobRecord, { open }: ListData, { trans = PLAIN }: RowContext): readonly ListRow[] {
  const row: ListRow = { kind: 'job', key: job.jobName, job, level: 1 };
  if (!isBatch(job) || !open.has(job.jobName)) {
    return [row];
  }
  const subjobs = open.get(job.jobName);
  if (!subjobs || subjobs.length === 0) {
    const text = subjobs ? trans.__('No jobs are left in this batch.') : trans.__('Loading its jobs …');
    return [row, { kind: 'note', key: `note ${job.jobName}`, text }];
  }
  return [
    row,
    ...subjobs.map((subjob): ListRow => ({
      kind: 'job',
      key: `${job.jobName} / ${subjob.jobName}`,
      job: subjob,
      level: 2
    }))
  ];
}

interface Group {
  readonly key: string;
  readonly title: string;
  /** The unabbreviated title. */
  readonly hint: string;
  /** False for the group of remaining jobs, which comes last. */
  readonly hasValue: boolean;
  readonly jobs: JobRecord[];
}

function groupJobs(jobs: readonly JobRecord[], grouping: Grouping, context: RowContext): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const job of jobs) {
    const [title, hint = title] = titleOf(job, grouping, context);
    const key = `group ${hint}`;
    const group = groups.get(key) ?? { key, title, hint, hasValue: hasGroupValue(job, grouping), jobs: [] };
    group.jobs.push(job);
    groups.set(key, group);
  }
  const all = [...groups.values()];
  return [...all.filter(group => group.hasValue), ...all.filter(group => !group.hasValue)];
}

/** Whether the job has a value for the grouping. */
function hasGroupValue(job: JobRecord, grouping: Grouping): boolean {
  switch (grouping) {
    case 'project':
      return Boolean(job.projectTag);
    case 'notebook':
      return Boolean(job.notebook);
    case 'tags':
      return Boolean(job.tags?.length);
    default:
      return true;
  }
}

/** Title of a job's group, and its full form if that is longer. */
function titleOf(
  job: JobRecord,
  grouping: Grouping,
  { toolName, now, trans = PLAIN }: RowContext
): readonly [string, string?] {
  switch (grouping) {
    case 'tool':
      return [toolName(toolType(job))];
    case 'project':
      return [job.projectTag ?? trans.__('No project')];
    case 'notebook':
      return job.notebook ? [notebookName(job.notebook), job.notebook] : [trans.__('Unknown notebook')];
    case 'tags':
      return [job.tags?.length ? job.tags.join(', ') : trans.__('No tags')];
    default:
      return [formatDay(job.created, now, trans) || trans.__('Unknown day')];
  }
}

/** The last folder and the name of a notebook's path. */
export function notebookName(path: string | null | undefined): string {
  return (path ?? '').split(/[\\/]/).slice(-2).join('/');
}

function sortDescending(jobs: readonly JobRecord[], valueOf: (job: JobRecord) => number | null): readonly JobRecord[] {
  const valued = jobs.map(job => ({ job, value: valueOf(job) ?? Number.NEGATIVE_INFINITY }));
  return valued.sort((a, b) => b.value - a.value || 0).map(({ job }) => job);
}

/** Groups jobs by metric, best first; those without a score last. */
function sortByScore(jobs: readonly JobRecord[]): readonly JobRecord[] {
  const scored = jobs.map(job => ({ job, score: findScore(job) }));
  return scored
    .sort((a, b) => (a.score && b.score ? compareScores(a.score, b.score) : Number(!a.score) - Number(!b.score)))
    .map(({ job }) => job);
}
