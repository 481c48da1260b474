/** Which service is meant, and what code must name to reach it. */
import type { ProfileRecord, ProfilesResponse } from '../src/api/responses';
import { EMBEDDED, ProfilesModel, serviceLocation, serviceTitle } from '../src/models/service/profiles';

const profile = (name: string, isActive = false): ProfileRecord => ({
  name,
  url: `https://${name}.example.org`,
  isActive
});

class Source {
  profile: string | null = null;
  answer: () => Promise<ProfilesResponse> = () =>
    Promise.resolve({ profiles: [profile(EMBEDDED, true), profile('lab'), profile('hosted')] });

  profiles(): Promise<ProfilesResponse> {
    return this.answer();
  }
}

let source: Source;
let model: ProfilesModel;

beforeEach(async () => {
  source = new Source();
  model = new ProfilesModel(source);
  await model.load();
});

it('the notebooks’ profile is selected until the user chooses, and code names no profile', () => {
  expect([model.selected(), model.isSelected(null), model.isSelected(EMBEDDED), model.isSelected('lab')]).toEqual([
    EMBEDDED,
    true,
    true,
    false
  ]);
  expect(model.forCode()).toBeNull();
});

it('a chosen profile applies to every request and is named in code', () => {
  const onChange = vi.fn();
  model.onChange = onChange;
  model.choose('lab');
  model.choose('lab');
  expect(source.profile).toBe('lab');
  expect(onChange).toHaveBeenCalledOnce();
  expect([model.selected(), model.forCode(), model.isSelected(EMBEDDED)]).toEqual(['lab', 'lab', false]);
});

it('code for a job of another service names its profile, unless that is the notebooks’', () => {
  model.choose('lab');
  expect([model.forCode('hosted'), model.forCode(EMBEDDED)]).toEqual(['hosted', null]);
});

it('the choice can be undone', () => {
  model.choose('lab');
  model.choose(null);
  expect([source.profile, model.selected()]).toEqual([null, EMBEDDED]);
});

it('profiles are kept if reloading them fails', async () => {
  source.answer = () => Promise.reject(new Error('No answer.'));
  await model.load();
  expect(model.state().profiles).toHaveLength(3);
});

it('no profile is selected before the first response', () => {
  const fresh = new ProfilesModel(source);
  expect([fresh.selected(), fresh.isSelected('lab')]).toEqual([null, false]);
});

it.each([
  [null, 'This computer', 'on this computer'],
  [EMBEDDED, 'This computer', 'on this computer'],
  ['lab', 'lab', 'at lab'],
  ['a\u202eb', 'a\ufffdb', 'at a\ufffdb']
])('the service of the profile %s has the title %s', (name, title, place) => {
  expect([serviceTitle(name), serviceLocation(name)]).toEqual([title, place]);
});
