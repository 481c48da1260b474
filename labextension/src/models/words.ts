/**
 * Where words come from. JupyterLab's translation bundles fit this shape; without one, the words are as they stand here.
 */

/** What translates: `%1`, `%2` … in a text stand for the arguments. */
export interface Trans {
  /** A text. */
  __(text: string, ...values: readonly (string | number)[]): string;
  /**
   * A text for one thing or for several. `%1` is `count` as bare digits: where it can reach a thousand, write `%2` and pass
   * `formatCount(count)`.
   */
  _n(one: string, many: string, count: number, ...values: readonly (string | number)[]): string;
}

/** The words as they stand in the source. */
export const PLAIN: Trans = {
  __: (text, ...values) => fill(text, values),
  _n: (one, many, count, ...values) => fill(count === 1 ? one : many, [count, ...values])
};

function fill(text: string, values: readonly (string | number)[]): string {
  return text.replace(/%(\d)/g, (sign, place: string) => {
    const value = values[Number(place) - 1];
    return value === undefined ? sign : String(value);
  });
}
