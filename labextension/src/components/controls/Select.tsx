/** A drop-down list with a few values. */
import type { ReactElement } from 'react';

/** Props of a drop-down list. */
export interface SelectProps<V extends string> {
  readonly label: string;
  readonly values: readonly V[];
  /** Label of each value. */
  readonly labels: Readonly<Record<V, string>>;
  readonly chosen: V;
  readonly onChoose: (value: V) => void;
}

/** A drop-down list. */
export function Select<V extends string>(props: SelectProps<V>): ReactElement {
  const { label, values, labels, chosen, onChoose } = props;
  return (
    <select
      className="fn-Select"
      aria-label={label}
      title={label}
      value={chosen}
      onChange={event => {
        const value = values.find(item => item === event.currentTarget.value);
        if (value !== undefined) {
          onChoose(value);
        }
      }}
    >
      {values.map(value => (
        <option key={value} value={value}>
          {labels[value]}
        </option>
      ))}
    </select>
  );
}
