import { afterEach, describe, expect, it } from 'vitest';

import { formatClock, formatDay, formatMoment, jobAge, jobDuration, queueSeconds } from '../src/models/formatting/time';
import { makeJob } from './records';

const before = process.env.TZ;

afterEach(() => {
  if (before === undefined) {
    delete process.env.TZ;
  } else {
    process.env.TZ = before;
  }
});

const CHANGES: [string, string][] = [
  ['America/St_Johns', '2026-03-08T05:30:00Z'],
  ['America/St_Johns', '2026-11-01T04:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Asia/Kathmandu', '1985-12-31T18:30:00Z'],
  ['Europe/Dublin', '2026-03-29T01:00:00Z'],
  ['Europe/Dublin', '2026-10-25T01:00:00Z'],
  ['Africa/Cairo', '2026-04-23T22:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Pacific/Apia', '2038-01-19T03:14:08Z']
];

/** Year, month and day that clocks show in a zone, counted in days since 1970 without any zone. */
function calendarDay(zone: string, time: number): number {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(time);
  return Date.parse(`${parts}T00:00:00Z`) / 86_400_000;
}

describe.each(CHANGES)('in %s around %s', (zone, change) => {
  const turn = Date.parse(change);
  const hours = Array.from({ length: 97 }, (_, hour) => turn + (hour - 48) * 3_600_000);

  it('names each day correctly', () => {
    process.env.TZ = zone;
    for (const time of hours) {
      const now = turn + 30 * 3_600_000;
      const days = calendarDay(zone, now) - calendarDay(zone, time);
      const label = formatDay(new Date(time).toISOString(), now);
      const isLeftOut = zone === 'Pacific/Apia' && days === 2 && change.startsWith('2011');
      const expected = days === 0 ? 'Today' : days === 1 || isLeftOut ? 'Yesterday' : null;
      if (expected) {
        expect(label).toBe(expected);
      } else {
        expect(label).not.toMatch(/Today|Yesterday/);
      }
    }
  });

  it('shows the local time', () => {
    process.env.TZ = zone;
    for (const time of hours) {
      const expected = new Date(time).toLocaleString(undefined, { timeZone: zone });
      expect(formatMoment(new Date(time).toISOString())).toBe(expected);
    }
  });

  it('computes ages and durations independently of the time zone', () => {
    process.env.TZ = zone;
    const created = new Date(turn - 1_800_000).toISOString();
    const job = makeJob({
      created,
      started: created,
      completed: new Date(turn + 1_800_000).toISOString()
    });
    expect(jobDuration(job, 0)).toBe('1 h');
    expect(jobAge(job, turn + 3 * 3_600_000)).toBe('3 h ago');
  });
});

describe('formatClock', () => {
  it('returns the time today, otherwise the date, with the year if it differs', () => {
    process.env.TZ = 'UTC';
    const now = Date.parse('2026-11-21T18:00:00Z');
    expect(formatClock('2026-11-21T14:05:10Z', now)).toMatch(/^0?2:05|14:05/);
    expect(formatClock('2026-11-20T14:05:10Z', now)).toMatch(/20/);
    expect(formatClock('2026-11-20T14:05:10Z', now)).not.toContain('2026');
    expect(formatClock('2025-11-21T14:05:10Z', now)).toContain('2025');
    expect(formatClock(null, now)).toBe('');
  });
});

describe('queueSeconds', () => {
  const now = Date.parse('2026-11-21T10:01:00Z');

  it('grows until the start of the run', () => {
    expect(queueSeconds(makeJob(), now)).toBe(5);
    expect(queueSeconds(makeJob({ status: 'In Queue', started: null }), now)).toBe(60);
  });

  it('is null for a job that was stopped before it started', () => {
    expect(queueSeconds(makeJob({ status: 'Stopped', started: null }), now)).toBeNull();
    expect(queueSeconds(makeJob({ created: null }), now)).toBeNull();
  });
});
