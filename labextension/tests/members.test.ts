import type { JobRecord, OlderAnswer } from '../src/api/answers';
import { listMembers, memberKey, MembersModel } from '../src/models/members';
import { makeJob } from './records';

const PAGE: OlderAnswer = {
  jobs: [makeJob({ email: 'b@x' }), makeJob({ email: 'a@x' }), makeJob({ email: null })],
  olderKey: 'next'
};

describe('the jobs of the organization', () => {
  it('are read page by page', async () => {
    const asked: (string | null)[] = [];
    const model = new MembersModel({
      members: key => {
        asked.push(key);
        return Promise.resolve(key === null ? PAGE : { jobs: [makeJob()], olderKey: null });
      }
    });
    await model.refresh();
    expect(model.state().hasOlder).toBe(true);
    await model.loadOlder();
    await model.loadOlder();
    expect(asked).toEqual([null, 'next']);
    expect(model.state().jobs).toHaveLength(4);
  });

  it('name their members, each once', () => {
    expect(listMembers([...PAGE.jobs, ...PAGE.jobs])).toEqual(['a@x', 'b@x']);
  });

  it('say why they are not there, and keep what was known', async () => {
    let isDown = false;
    const model = new MembersModel({
      members: () => (isDown ? Promise.reject(new Error('No answer.')) : Promise.resolve(PAGE))
    });
    await model.refresh();
    isDown = true;
    await model.refresh();
    expect([model.state().fault, model.state().jobs?.length]).toEqual(['No answer.', 3]);
  });

  it('of one name are told apart, and a refusal is kept until they are asked for again', async () => {
    const [a, b] = ['a@x', 'b@x'].map(email => makeJob({ jobName: 'same', email })) as [
      JobRecord,
      JobRecord
    ];
    const page: OlderAnswer = { jobs: [a, b], olderKey: null };
    const model = new MembersModel({ members: () => Promise.resolve(page) });
    await model.refresh();
    model.choose(memberKey(a));
    expect([model.chosen(), model.find('same', 'b@x'), model.find('none', 'b@x')]).toEqual([
      a,
      b,
      undefined
    ]);
    model.noteRefusal(b, 'No.');
    expect([...model.state().refusals]).toEqual([[memberKey(b), 'No.']]);
    await model.refresh();
    expect(model.state().refusals.size).toBe(0);
    model.reset();
    expect(model.chosen()).toBeUndefined();
  });
});
