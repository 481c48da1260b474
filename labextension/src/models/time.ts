/**
 * Times as people say them. All inputs are RFC 3339 UTC strings of the wire, or milliseconds since 1970.
 */
import type { JobRecord } from '../api/answers';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in at most two units: `42 s`, `1 min 12 s`, `3 h 5 min`, `2 d 4 h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) {
    return `${whole} s`;
  }
  if (whole < HOUR) {
    return pair(whole, MINUTE, 'min', 1, 's');
  }
  if (whole < DAY) {
    return pair(whole, HOUR, 'h', MINUTE, 'min');
  }
  return pair(whole, DAY, 'd', HOUR, 'h');
}

/** How long ago, roughly: `just now`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function formatAge(seconds: number): string {
  if (seconds < MINUTE) {
    return 'just now';
  }
  if (seconds < HOUR) {
    return `${Math.floor(seconds / MINUTE)} min ago`;
  }
  if (seconds < DAY) {
    return `${Math.floor(seconds / HOUR)} h ago`;
  }
  return `${Math.floor(seconds / DAY)} d ago`;
}

/** The moment in the reader's own time zone and language; empty for null. */
export function formatMoment(time: string | null | undefined): string {
  return time ? new Date(time).toLocaleString() : '';
}

/** Age of a job since it was submitted; empty when the service does not say. */
export function jobAge(job: JobRecord, now: number): string {
  return job.created ? formatAge(secondsBetween(job.created, now)) : '';
}

/** How long the job ran, or has been running; empty before it started. */
export function jobDuration(job: JobRecord, now: number): string {
  if (!job.started) {
    return '';
  }
  const end = job.completed ? Date.parse(job.completed) : now;
  return formatDuration(secondsBetween(job.started, end));
}

function pair(whole: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((whole % big) / small);
  const head = `${Math.floor(whole / big)} ${bigUnit}`;
  return rest === 0 ? head : `${head} ${rest} ${smallUnit}`;
}

function secondsBetween(start: string, end: number): number {
  return (end - Date.parse(start)) / 1000;
}
