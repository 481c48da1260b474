/** The user's choices for the list, stored between visits. */
import {
  ChoicesModel,
  type ChoiceStorage,
  DEFAULT_CHOICES,
  GROUPS,
  SORTS,
  JOB_OWNERS
} from '../src/models/jobs/choices';
import { DETAILS, DEFAULT_DETAILS, readDetails, toggleDetail, writeDetails } from '../src/models/jobs/details';
import { STATES } from '../src/models/jobs/status';
import { forSeeds } from './random';

/** Keeps values as JupyterLab's state database does: as JSON. */
class Memory implements ChoiceStorage {
  text: string | undefined;

  fetch(): Promise<unknown> {
    return Promise.resolve(this.text === undefined ? undefined : JSON.parse(this.text));
  }

  save(_id: string, value: Record<string, string | null>): Promise<void> {
    this.text = JSON.stringify(value);
    return Promise.resolve();
  }
}

it('choices are restored at the next visit, the search text is not', async () => {
  const memory = new Memory();
  await forEachSeed(async choices => {
    new ChoicesModel(memory).choose({ ...choices, query: 'lost' });
    const next = new ChoicesModel(memory);
    await next.restore();
    expect(next.state()).toEqual({ ...choices, query: '' });
  });
});

async function forEachSeed(check: (choices: typeof DEFAULT_CHOICES) => Promise<void>): Promise<void> {
  const made: (typeof DEFAULT_CHOICES)[] = [];
  forSeeds(random => {
    made.push({
      query: '',
      state: random.pick([null, ...STATES.map(row => row.state)]),
      sort: random.pick(SORTS),
      grouping: random.pick(GROUPS),
      whose: random.pick(JOB_OWNERS),
      details: random.some(DETAILS)
    });
  });
  for (const choices of made) {
    await check(choices);
  }
}

it.each([undefined, null, 7, 'newest', [], { sort: 'wrong', state: 3, details: null, grouping: {} }])(
  'an invalid value stored by another version is ignored: %o',
  async stored => {
    const model = new ChoicesModel({ fetch: () => Promise.resolve(stored), save: () => Promise.resolve() });
    await model.restore();
    expect(model.state()).toEqual(DEFAULT_CHOICES);
  }
);

it('without storage, choices last until the page is left', async () => {
  const model = new ChoicesModel();
  await model.restore();
  model.choose({ sort: 'name' });
  expect(model.state().sort).toBe('name');
});

describe('details of rows', () => {
  it('are shown and hidden one by one, in their fixed order', () => {
    const without = toggleDetail(DEFAULT_DETAILS, 'tool');
    expect(without).not.toContain('tool');
    expect(toggleDetail(without, 'tool')).toEqual(DEFAULT_DETAILS);
  });

  it('can all be hidden', () => {
    expect(readDetails(writeDetails([]))).toEqual([]);
    expect(readDetails(undefined)).toEqual(DEFAULT_DETAILS);
  });
});
