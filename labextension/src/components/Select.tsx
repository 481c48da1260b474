/** A drop-down list of few values. */
import type { ReactElement } from 'react';

/** What a drop-down list needs. */
export interface SelectProps<V extends string> {
  readonly label: string;
  readonly values: readonly V[];
  /** What each value is called. */
  readonly words: Readonly<Record<V, string>>;
  readonly chosen: V;
  readonly onChoose: (value: V) => void;
}

/** A drop-down list. */
export function Select<V extends string>(props: SelectProps<V>): ReactElement {
  const { label, values, words, chosen, onChoose } = props;
  return (
    <select
      className="fn-Select"
      aria-label={label}
      title={label}
      value={chosen}
      onChange={event => {
        const value = values.find(each => each === event.currentTarget.value);
        if (value !== undefined) {
          onChoose(value);
        }
      }}
    >
      {values.map(value => (
        <option key={value} value={value}>
          {words[value]}
        </option>
      ))}
    </select>
  );
}
