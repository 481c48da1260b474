/** The jobs as a page holds them, against a service that is played in memory. */
import type { JobRecord, JobsResponse } from '../src/api/responses';
import { appendOlder, mergeResponse } from '../src/models/jobs/joblist';
import { makeJob } from './records';
import { forSeeds, type Random } from './random';

const HEAD = 4;
const STATUSES: readonly JobRecord['status'][] = ['In Queue', 'Running', 'Complete', 'Stopped'];

/** A service with jobs, newest first, of which it tells the newest ones only. */
class Service {
  jobs: JobRecord[] = [];
  private made = 0;

  submit(): void {
    this.made += 1;
    const created = new Date(Date.UTC(2026, 10, 1) + this.made * 60_000).toISOString();
    this.jobs = [makeJob({ jobName: `job-${this.made}`, created }), ...this.jobs];
  }

  change(random: Random): void {
    const at = random.below(Math.min(HEAD, this.jobs.length));
    this.jobs = this.jobs.map((job, index) => (index === at ? { ...job, status: random.pick(STATUSES) } : job));
  }

  delete(random: Random): void {
    const at = random.below(Math.min(HEAD, this.jobs.length));
    this.jobs = this.jobs.filter((_, index) => index !== at);
  }

  changeRandomly(random: Random): void {
    const operations = this.jobs.length === 0 ? ['submit'] : ['submit', 'change', 'change', 'delete'];
    const operation = random.pick(operations);
    if (operation === 'submit') {
      this.submit();
    } else if (operation === 'change') {
      this.change(random);
    } else {
      this.delete(random);
    }
  }

  head(): readonly JobRecord[] {
    return this.jobs.slice(0, HEAD);
  }
}

type Answer = Pick<JobsResponse, 'jobs' | 'removed' | 'isWhole' | 'olderKey'>;

/** What is other than `before`. */
function difference(before: readonly JobRecord[], now: readonly JobRecord[], olderKey: string | null): Answer {
  const names = new Set(now.map(job => job.jobName));
  return {
    jobs: now.filter(job => !before.includes(job)),
    removed: before.map(job => job.jobName).filter(name => !names.has(name)),
    isWhole: false,
    olderKey
  };
}

it('applying every difference gives the service’s list', () => {
  forSeeds(random => {
    const service = new Service();
    let known: readonly JobRecord[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const before = service.jobs;
      service.changeRandomly(random);
      known = mergeResponse(known, difference(before, service.jobs, null));
      expect(known).toEqual(service.jobs);
    }
  });
});

it('a full response replaces the newest jobs and keeps the pages of older ones', () => {
  forSeeds(random => {
    const service = new Service();
    for (let count = 0; count < 10; count += 1) {
      service.submit();
    }
    const known = appendOlder(service.head(), service.jobs);
    service.changeRandomly(random);
    const merged = mergeResponse(known, { jobs: service.head(), removed: [], isWhole: true, olderKey: 'k' });
    expect(merged).toEqual(service.jobs);
  });
});

it('appending a page of older jobs adds no job twice', () => {
  forSeeds(random => {
    const jobs = Array.from({ length: 12 }, (_, index) => makeJob({ jobName: `${index}` }));
    const known = random.some(jobs);
    const names = appendOlder(known, jobs).map(job => job.jobName);
    expect(new Set(names).size).toBe(names.length);
    expect(names.slice(0, known.length)).toEqual(known.map(job => job.jobName));
    expect(names).toHaveLength(jobs.length);
  });
});
