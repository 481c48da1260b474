/**
 * Formatting of times. Inputs are RFC 3339 UTC strings of the wire, or milliseconds since 1970.
 */
import type { JobRecord } from '../../api/responses';
import { PLAIN, type Trans } from '../translation';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats a duration in at most two units: `under 1 s`, `42 s`, `1 min 12 s`, `3 h 5 min`, `2 d 4 h`. */
export function formatDuration(seconds: number): string {
  if (seconds > 0 && seconds < 1) {
    return 'under 1 s';
  }
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) {
    return `${whole} s`;
  }
  if (whole < HOUR) {
    return formatUnits(whole, MINUTE, 'min', 1, 's');
  }
  if (whole < DAY) {
    return formatUnits(whole, HOUR, 'h', MINUTE, 'min');
  }
  return formatUnits(whole, DAY, 'd', HOUR, 'h');
}

/** Formats an age approximately: `just now`, `5 min ago`, `3 h ago`, `2 d ago`. */
export function formatAge(seconds: number, trans: Trans = PLAIN): string {
  if (seconds < MINUTE) {
    return trans.__('just now');
  }
  if (seconds < HOUR) {
    return trans.__('%1 min ago', Math.floor(seconds / MINUTE));
  }
  if (seconds < DAY) {
    return trans.__('%1 h ago', Math.floor(seconds / HOUR));
  }
  return trans.__('%1 d ago', Math.floor(seconds / DAY));
}

/** Formats a date and time in the user's time zone and language; empty for null. */
export function formatMoment(time: string | null | undefined): string {
  return time ? new Date(time).toLocaleString() : '';
}

/** Formats a time of today as `14:05`, other times with the date; empty for null. */
export function formatClock(time: string | null | undefined, now: number): string {
  if (!time) {
    return '';
  }
  const date = new Date(time);
  const clock = { hour: '2-digit', minute: '2-digit' } as const;
  if (startOfDay(date.getTime()) === startOfDay(now)) {
    return date.toLocaleTimeString(undefined, clock);
  }
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  const day = { day: 'numeric', month: 'short', ...clock } as const;
  return date.toLocaleString(undefined, isThisYear ? day : { ...day, year: 'numeric' });
}

/** Formats a date in the user's time zone and language, or as today or yesterday; empty for null. */
export function formatDay(time: string | null | undefined, now: number, trans: Trans = PLAIN): string {
  if (!time) {
    return '';
  }
  const day = startOfDay(Date.parse(time));
  const days = Math.round((startOfDay(now) - day) / (DAY * 1000));
  if (days === 0) {
    return trans.__('Today');
  }
  if (days === 1) {
    return trans.__('Yesterday');
  }
  return new Date(day).toLocaleDateString(undefined, { dateStyle: 'full' });
}

/** Time since a job's submission; empty if unknown. */
export function jobAge(job: JobRecord, now: number, trans: Trans = PLAIN): string {
  return job.created ? formatAge((now - Date.parse(job.created)) / 1000, trans) : '';
}

/** Seconds that the job ran, or has been running; null before it started. */
export function jobSeconds(job: JobRecord, now: number): number | null {
  if (!job.started) {
    return null;
  }
  const end = job.completed ? Date.parse(job.completed) : now;
  return (end - Date.parse(job.started)) / 1000;
}

/** Seconds that the job was in the queue, or has been; null if unknown, or if it ended without a start. */
export function queueSeconds(job: JobRecord, now: number): number | null {
  if (!job.created || (!job.started && job.status !== 'In Queue')) {
    return null;
  }
  const end = job.started ? Date.parse(job.started) : now;
  return Math.max(0, end - Date.parse(job.created)) / 1000;
}

/** How long the job ran, or has been running; empty before it started. */
export function jobDuration(job: JobRecord, now: number): string {
  const seconds = jobSeconds(job, now);
  return seconds === null ? '' : formatDuration(seconds);
}

function startOfDay(time: number): number {
  const day = new Date(time);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}

function formatUnits(whole: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((whole % big) / small);
  const head = `${Math.floor(whole / big)} ${bigUnit}`;
  return rest === 0 ? head : `${head} ${rest} ${smallUnit}`;
}
