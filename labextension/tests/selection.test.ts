/** Which rows are selected, by mouse and by keyboard. */
import { readSelectionMode, nextIndex, Selection, type SelectionMode } from '../src/models/jobs/selection';
import { forSeeds } from './random';

const ORDER = ['a', 'b', 'c', 'd', 'e'];
const NO_KEYS = { shiftKey: false, ctrlKey: false, metaKey: false };

let selection: Selection;

beforeEach(() => {
  selection = new Selection();
});

function choose(name: string | null, how: SelectionMode): void {
  selection.choose(name ?? 'group', name, how, ORDER);
}

const names = (): string[] => [...selection.state().names];

describe('a click', () => {
  it('selects only its row', () => {
    choose('a', 'alone');
    choose('c', 'alone');
    expect(names()).toEqual(['c']);
    expect(selection.state().current).toBe('c');
  });

  it('adds and removes its row with Ctrl', () => {
    choose('a', 'alone');
    choose('c', 'toggle');
    expect(names()).toEqual(['a', 'c']);
    choose('a', 'toggle');
    expect(names()).toEqual(['c']);
  });

  it('with Shift selects the range from the last row that was clicked alone, in both directions', () => {
    choose('c', 'alone');
    choose('e', 'range');
    expect(names()).toEqual(['c', 'd', 'e']);
    choose('a', 'range');
    expect(names()).toEqual(['a', 'b', 'c']);
  });

  it('with Shift selects only its row if nothing was selected before', () => {
    choose('d', 'range');
    expect(names()).toEqual(['d']);
    choose('b', 'range');
    expect(names()).toEqual(['b', 'c', 'd']);
  });

  it('with Shift selects only its row if the start of the range was removed', () => {
    choose('a', 'alone');
    selection.choose('e', 'e', 'range', ['d', 'e']);
    expect(names()).toEqual(['e']);
  });

  it('on the heading of a group makes it the active row and keeps the selection', () => {
    choose('a', 'alone');
    choose(null, 'alone');
    expect(names()).toEqual(['a']);
    expect(selection.state().current).toBe('group');
  });

  it.each([
    [NO_KEYS, 'alone'],
    [{ ...NO_KEYS, shiftKey: true }, 'range'],
    [{ ...NO_KEYS, ctrlKey: true }, 'toggle'],
    [{ ...NO_KEYS, metaKey: true }, 'toggle'],
    [{ shiftKey: true, ctrlKey: true, metaKey: false }, 'range']
  ])('with the keys %o has the mode %s', (keys, how) => {
    expect(readSelectionMode(keys)).toBe(how);
  });
});

describe('removed jobs', () => {
  it('are deselected, with a signal only if one of them was selected', () => {
    selection.chooseAll(ORDER);
    let changes = 0;
    selection.changed.connect(() => (changes += 1));
    selection.keepOnly(name => name !== 'b');
    selection.keepOnly(() => true);
    expect(names()).toEqual(['a', 'c', 'd', 'e']);
    expect(changes).toBe(1);
  });

  it('do not start a range after the selection is cleared', () => {
    choose('a', 'alone');
    selection.clear();
    choose('c', 'range');
    expect(names()).toEqual(['c']);
  });
});

describe('a key', () => {
  it.each([
    ['ArrowDown', 4, 4],
    ['ArrowDown', 1, 2],
    ['ArrowUp', 0, 0],
    ['ArrowUp', 3, 2],
    ['PageDown', 0, 3],
    ['PageDown', 3, 4],
    ['PageUp', 4, 1],
    ['PageUp', 1, 0],
    ['Home', 3, 0],
    ['End', 1, 4],
    ['x', 1, -1]
  ])('%s moves from row %i of five to row %i', (key, from, to) => {
    expect(nextIndex(key, from, 5, 3)).toBe(to);
  });

  it('never moves outside the list', () => {
    forSeeds(random => {
      const length = 1 + random.below(50);
      let index = random.below(length);
      for (let step = 0; step < 30; step += 1) {
        const key = random.pick(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End']);
        index = nextIndex(key, index, length, 1 + random.below(10));
        expect(index).toBeGreaterThanOrEqual(0);
        expect(index).toBeLessThan(length);
      }
    });
  });
});

it('after any clicks a range is contiguous and every selected name is in the list', () => {
  forSeeds(random => {
    selection = new Selection();
    for (let click = 0; click < 20; click += 1) {
      const how = random.pick<SelectionMode>(['alone', 'toggle', 'range', 'keep']);
      const name = random.pick(ORDER);
      choose(name, how);
      const chosen = ORDER.filter(each => selection.state().names.has(each));
      expect(chosen).toHaveLength(selection.state().names.size);
      expect(selection.state().current).toBe(name);
      if (how === 'range') {
        expect(ORDER.join('')).toContain(chosen.join(''));
        expect(chosen).toContain(name);
      }
    }
  });
});
