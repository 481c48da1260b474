/**
 * Positions of the rows of a virtualised list. Heights are estimated until a row has been displayed, and measured from then
 * on.
 */

/** An item with a key and an estimated height in pixels. */
export interface Measured {
  readonly key: string;
  readonly estimate: number;
}

/** The rows from `start` to before `end`, and the empty space before and after them in pixels. */
export interface Slice {
  readonly start: number;
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/** Maximum number of rows in the document. */
export const MAX_ROWS = 90;

const OVERSCAN_PX = 300;

/** Top of each row in pixels, and the total height at the end. */
export function rowTops(rows: readonly Measured[], heights: ReadonlyMap<string, number>): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  let top = 0;
  rows.forEach((row, index) => {
    tops[index] = top;
    top += heights.get(row.key) ?? row.estimate;
  });
  tops[rows.length] = top;
  return tops;
}

/** The rows visible in `height` pixels from `top`, and some more on either side. */
export function sliceRows(tops: Float64Array, top: number, height: number): Slice {
  const count = tops.length - 1;
  const start = rowAt(tops, top - OVERSCAN_PX);
  const end = Math.min(count, rowAt(tops, top + height + OVERSCAN_PX) + 1, start + MAX_ROWS);
  const total = tops[count] ?? 0;
  return { start, end, before: tops[start] ?? 0, after: total - (tops[end] ?? total) };
}

/** The row at a vertical position; the first or last row outside the list. */
export function rowAt(tops: Float64Array, y: number): number {
  let low = 0;
  let high = Math.max(0, tops.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= y) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/** Scroll position that makes the row from `top` to `bottom` visible; null if it is. */
export function scrollFor(top: number, bottom: number, scrollTop: number, height: number): number | null {
  if (top < scrollTop) {
    return top;
  }
  return bottom > scrollTop + height ? Math.max(0, bottom - height) : null;
}
