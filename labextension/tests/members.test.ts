import type { JobRecord, OlderResponse } from '../src/api/responses';
import { listMembers, memberKey, memberRows, MembersModel, type MembersSource } from '../src/models/jobs/members';
import { makeJob } from './records';

const PAGE: OlderResponse = {
  jobs: [makeJob({ email: 'b@x' }), makeJob({ email: 'a@x' }), makeJob({ email: null })],
  olderKey: 'next'
};

const NO_BATCHES: Pick<MembersSource, 'subjobs'> = {
  subjobs: () => Promise.reject(new Error('None.'))
};

describe('MembersModel', () => {
  it('loads page by page', async () => {
    const keys: (string | null)[] = [];
    const model = new MembersModel({
      ...NO_BATCHES,
      members: key => {
        keys.push(key);
        return Promise.resolve(key === null ? PAGE : { jobs: [makeJob()], olderKey: null });
      }
    });
    await model.refresh();
    expect(model.state().hasOlder).toBe(true);
    await model.loadOlder();
    await model.loadOlder();
    expect(keys).toEqual([null, 'next']);
    expect(model.state().jobs).toHaveLength(4);
  });

  it('lists each member once', () => {
    expect(listMembers([...PAGE.jobs, ...PAGE.jobs])).toEqual(['a@x', 'b@x']);
  });

  it('reports why loading failed, and keeps the loaded jobs', async () => {
    let isDown = false;
    const model = new MembersModel({
      ...NO_BATCHES,
      members: () => (isDown ? Promise.reject(new Error('No answer.')) : Promise.resolve(PAGE))
    });
    await model.refresh();
    isDown = true;
    await model.refresh();
    expect([model.state().fault, model.state().jobs?.length]).toEqual(['No answer.', 3]);
  });

  it('distinguishes jobs of the same name, and keeps a refusal until the next refresh', async () => {
    const [a, b] = ['a@x', 'b@x'].map(email => makeJob({ jobName: 'same', email })) as [JobRecord, JobRecord];
    const page: OlderResponse = { jobs: [a, b], olderKey: null };
    const model = new MembersModel({ ...NO_BATCHES, members: () => Promise.resolve(page) });
    await model.refresh();
    model.choose(memberKey(a));
    expect([model.chosen(), model.find('same', 'b@x'), model.find('none', 'b@x')]).toEqual([a, b, undefined]);
    model.noteRefusal(b, 'No.');
    expect([...model.state().refusals]).toEqual([[memberKey(b), 'No.']]);
    await model.refresh();
    expect(model.state().refusals.size).toBe(0);
    model.reset();
    expect(model.chosen()).toBeUndefined();
  });

  it('expands a member’s batch page by page, and reports why its jobs are not available', async () => {
    const batch = makeJob({ jobName: 'screen', type: 'batch', batchSize: 2, email: 'a@x' });
    let answer: (key: string | null) => Promise<OlderResponse> = key =>
      Promise.resolve({
        jobs: [makeJob({ jobName: key === null ? 'row-1' : 'row-0' })],
        olderKey: key === null ? 'next' : null
      });
    const model = new MembersModel({
      members: () => Promise.resolve({ jobs: [batch], olderKey: null }),
      subjobs: (name, key, member) => {
        expect([name, member]).toEqual(['screen', 'a@x']);
        return answer(key);
      }
    });
    const texts = (): string[] =>
      memberRows(model.state().jobs ?? [], model.state().open).map(row =>
        row.kind === 'job' ? `${row.job.jobName} ${row.level}` : row.text
      );
    await model.refresh();
    expect(texts()).toEqual(['screen 1']);
    model.toggleBatch(batch);
    expect(texts()).toEqual(['screen 1', 'Loading its jobs …']);
    await vi.waitFor(() => expect(texts()).toEqual(['screen 1', 'row-0 2', 'row-1 2']), 20_000);
    expect(model.find('row-1', 'a@x')?.jobName).toBe('row-1');
    answer = () => Promise.reject(new Error('Only its owner may see them.'));
    await model.refresh();
    expect(texts()[1]).toContain('The service refuses access to its jobs. Only its owner may see them.');
    answer = () => Promise.resolve({ jobs: [], olderKey: null });
    await model.refresh();
    expect(texts()[1]).toContain('does not list the jobs of another member’s batch');
    model.toggleBatch(batch);
    expect(texts()).toEqual(['screen 1']);
  });

  it('shows the response to the latest request for a batch, even if an earlier one arrives later', async () => {
    const batch = makeJob({ jobName: 'screen', type: 'batch', batchSize: 1, email: 'a@x' });
    const answers: ((answer: OlderResponse) => void)[] = [];
    const model = new MembersModel({
      members: () => Promise.resolve({ jobs: [batch], olderKey: null }),
      subjobs: () => new Promise(resolve => answers.push(resolve))
    });
    await model.refresh();
    model.toggleBatch(batch);
    const refreshed = model.refresh();
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    for (const [index, status] of [
      [1, 'Complete'],
      [0, 'Running']
    ] as const) {
      answers[index]?.({ jobs: [makeJob({ jobName: 'row-0', status })], olderKey: null });
      await refreshed;
    }
    await Promise.resolve();
    expect(model.find('row-0', 'a@x')?.status).toBe('Complete');
  });
});
