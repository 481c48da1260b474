/** Where the rows of a long list stand. */
import { MAX_ROWS, rowTops, rowAt, scrollFor, sliceRows, type Measured } from '../src/models/layout';
import { forSeeds, type Random } from './random';

const rowsOf = (count: number, estimate = 20): Measured[] =>
  Array.from({ length: count }, (_, index) => ({ key: `${index}`, estimate: estimate }));

describe('rows', () => {
  it('are stacked by their measured or else estimated heights', () => {
    const tops = rowTops(rowsOf(4), new Map([['1', 50]]));
    expect([...tops]).toEqual([0, 20, 70, 90, 110]);
  });

  it('of an empty list have no height', () => {
    const tops = rowTops([], new Map());
    expect([...tops]).toEqual([0]);
    expect(sliceRows(tops, 0, 500)).toEqual({ start: 0, end: 0, before: 0, after: 0 });
  });

  it('are found by their vertical position; outside the list, the first or last one', () => {
    const tops = rowTops(rowsOf(3), new Map());
    expect([-5, 0, 19, 20, 59, 60, 1000].map(y => rowAt(tops, y))).toEqual([0, 0, 0, 1, 2, 2, 2]);
  });
});

describe('scrolling', () => {
  it.each([
    ['is not needed for a visible row', 100, 120, 90, null],
    ['moves up to the top of a row above', 50, 70, 90, 50],
    ['moves down until the end of a row below is visible', 300, 320, 90, 120],
    ['is not needed for a row that ends at the end of the view', 270, 290, 90, null],
    ['aligns the top of a row taller than the view', -10, 500, 0, -10]
  ])('%s', (_, top, bottom, scrollTop, to) => {
    expect(scrollFor(top, bottom, scrollTop, 200)).toBe(to);
  });
});

/** Rows of random heights, and where somebody looks. */
function scene(random: Random): { rows: Measured[]; tops: Float64Array; top: number; height: number } {
  const rows = Array.from({ length: 1 + random.below(400) }, (_, index) => ({
    key: `${index}`,
    estimate: 10 + random.below(90)
  }));
  const heights = new Map(random.some(rows).map(row => [row.key, 10 + random.below(300)] as const));
  const tops = rowTops(rows, heights);
  return { rows, tops, top: random.below(tops[rows.length] ?? 1), height: 100 + random.below(1500) };
}

it('at any scroll position, the visible rows and few others are drawn, and the total height is constant', () => {
  forSeeds(random => {
    const { rows, tops, top, height } = scene(random);
    const { start, end, before, after } = sliceRows(tops, top, height);
    const whole = tops[rows.length] ?? 0;
    expect(before + ((tops[end] ?? 0) - (tops[start] ?? 0)) + after).toBeCloseTo(whole);
    expect(end - start).toBeLessThanOrEqual(MAX_ROWS);
    expect(start).toBeLessThanOrEqual(rowAt(tops, top));
    if (end - start < MAX_ROWS) {
      expect(end).toBeGreaterThan(rowAt(tops, Math.min(top + height, whole - 1)));
    }
  });
});

it('the row found at a position contains that position', () => {
  forSeeds(random => {
    const { rows, tops } = scene(random);
    const y = random.below(tops[rows.length] ?? 1);
    const index = rowAt(tops, y);
    expect(tops[index]).toBeLessThanOrEqual(y);
    expect(tops[index + 1]).toBeGreaterThan(y);
  });
});

it('after scrolling to a row, it is visible unless it is taller than the view', () => {
  forSeeds(random => {
    const { rows, tops, top, height } = scene(random);
    const index = random.below(rows.length);
    const [from, to] = [tops[index] ?? 0, tops[index + 1] ?? 0];
    const scrolled = scrollFor(from, to, top, height) ?? top;
    if (to - from <= height) {
      expect(scrollFor(from, to, scrolled, height)).toBeNull();
    }
  });
});
