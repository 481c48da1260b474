/**
 * The interface of translations, which JupyterLab's translation bundles implement; by default texts are not translated.
 */

/** A translation; `%1`, `%2` … in a text are replaced by the arguments. */
export interface Trans {
  /** Translates a text. */
  __(text: string, ...values: readonly (string | number)[]): string;
  /**
   * Translates a text that exists for one item and for several. `%1` is `count` as bare digits: if it can reach a thousand, write `%2` and pass
   * `formatCount(count)`.
   */
  _n(one: string, many: string, count: number, ...values: readonly (string | number)[]): string;
}

/** The texts of the source, untranslated. */
export const PLAIN: Trans = {
  __: (text, ...values) => fill(text, values),
  _n: (one, many, count, ...values) => fill(count === 1 ? one : many, [count, ...values])
};

function fill(text: string, values: readonly (string | number)[]): string {
  return text.replace(/%(\d)/g, (placeholder, digit: string) => {
    const value = values[Number(digit) - 1];
    return value === undefined ? placeholder : String(value);
  });
}
