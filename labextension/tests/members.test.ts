import type { OlderAnswer } from '../src/api/answers';
import { listMembers, MembersModel } from '../src/models/members';
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
});
