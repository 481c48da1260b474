import type { JobRef, JobRecord, ResultResponse } from '../src/api/responses';
import { LabRequestError } from '../src/api/request';
import { ResultModel, type ListedJob, type ResultState } from '../src/models/results/result';
import { makeJob } from './records';

const JOB: JobRef = { job: 'fold', member: null, profile: 'lab' };
const RESULT: ResultResponse = { title: 'fold', html: '', files: [], manifest: '', settings: '' };
const ELSEWHERE: ListedJob = { isReady: true, isPolled: false, job: undefined };

/** A service whose answers are given in order, the last one again and again; an error is thrown. */
class Service {
  requestCount = 0;
  fetched = 0;
  listed: ListedJob = ELSEWHERE;

  constructor(
    readonly records: (JobRecord | null | Error)[],
    readonly results: (ResultResponse | Error)[] = [RESULT]
  ) {}

  record(): Promise<JobRecord | null> {
    this.requestCount += 1;
    return next(this.records);
  }

  readResult(): Promise<ResultResponse> {
    this.fetched += 1;
    return next(this.results);
  }
}

function next<T>(answers: (T | Error)[]): Promise<T> {
  const [answer] = answers.length > 1 ? answers.splice(0, 1) : answers;
  return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as T);
}

function open(service: Service): { model: ResultModel; past: ResultState[]; end: () => void } {
  const model = new ResultModel(JOB, service, () => service.listed, [0]);
  const past: ResultState[] = [];
  model.changed.connect(() => past.push(model.state()));
  return { model, past, end: model.watch() };
}

/** The state as soon as `isExpected` holds. */
async function stateWhen(model: ResultModel, isExpected: (state: ResultState) => boolean): Promise<ResultState> {
  await vi.waitFor(() => expect(isExpected(model.state())).toBe(true), 20_000);
  return model.state();
}

const complete = makeJob({ jobName: 'fold', status: 'Complete' });
const running = makeJob({ jobName: 'fold' });
const gone = new LabRequestError('Gone for lunch.', 503);

it('a job that is not in the list is looked up, and its result fetched', async () => {
  const service = new Service([complete]);
  const { model } = open(service);
  expect((await stateWhen(model, state => state.result !== null)).job).toBe(complete);
  expect([service.requestCount, service.fetched]).toEqual([1, 1]);
});

it('a job unknown to the service is reported as missing, and not requested again', async () => {
  const service = new Service([null]);
  const { model } = open(service);
  expect((await stateWhen(model, state => state.goneAt !== null)).job).toBeUndefined();
  model.updateFromLists();
  expect([service.requestCount, service.fetched]).toEqual([1, 0]);
});

it('a job running at another service is polled until its result is available', async () => {
  const service = new Service([running, running, complete]);
  const { model, past } = open(service);
  await stateWhen(model, state => state.result !== null);
  expect(past[0]?.job).toBe(running);
  expect(service.requestCount).toBe(3);
});

it('a listed job is not requested; if it leaves the list it is reported as deleted, and its result is kept', async () => {
  const service = new Service([null]);
  service.listed = { isReady: true, isPolled: true, job: complete };
  const { model } = open(service);
  await stateWhen(model, state => state.result !== null);
  expect(service.requestCount).toBe(0);
  service.listed = { isReady: true, isPolled: true, job: undefined };
  model.updateFromLists();
  const state = await stateWhen(model, each => each.goneAt !== null);
  expect([state.job, state.result]).toEqual([complete, RESULT]);
});

it('nothing is requested before the list is loaded, or while nothing watches the model', async () => {
  const service = new Service([running]);
  service.listed = { ...ELSEWHERE, isReady: false };
  const { model, end } = open(service);
  expect(service.requestCount).toBe(0);
  service.listed = ELSEWHERE;
  model.updateFromLists();
  await stateWhen(model, state => state.job !== undefined);
  end();
  const { requestCount } = service;
  model.updateFromLists();
  expect(service.requestCount).toBe(requestCount);
});

it('requests for the job and the result are retried automatically while the service is unavailable', async () => {
  const service = new Service([gone, gone, complete], [gone, RESULT]);
  const { model, past } = open(service);
  const state = await stateWhen(model, each => each.result !== null);
  expect(past[0]?.fault).toEqual({ message: 'Gone for lunch.', isTemporary: true });
  expect(past.some(each => each.resultFault?.isTemporary)).toBe(true);
  expect([state.fault, state.resultFault]).toEqual([null, null]);
});

it('a refused result is requested again only on demand', async () => {
  const service = new Service([complete], [new LabRequestError('No.', 422), RESULT]);
  const { model } = open(service);
  await stateWhen(model, state => state.resultFault?.isTemporary === false);
  model.updateFromLists();
  expect(service.fetched).toBe(1);
  model.retryNow();
  await stateWhen(model, state => state.result !== null);
});

it('a result that no longer exists is reported as a deleted job', async () => {
  const service = new Service([complete, null], [new LabRequestError('None.', 404)]);
  const { model } = open(service);
  const state = await stateWhen(model, each => each.goneAt !== null);
  expect(state.resultFault).toBeNull();
});

it('a new job of the same name replaces the result', async () => {
  const service = new Service([complete], [RESULT, { ...RESULT, title: 'second' }]);
  service.listed = { isReady: true, isPolled: true, job: complete };
  const { model } = open(service);
  await stateWhen(model, state => state.result !== null);
  service.listed = { ...service.listed, job: { ...complete, created: '2027-01-01T00:00:00.000Z' } };
  model.updateFromLists();
  await stateWhen(model, state => state.result?.title === 'second');
});
