/** Counts of jobs by state; each is a filter. */
import type { ReactElement } from 'react';

import { STATES, type ShownState } from '../models/status';
import { StateIcon } from './icons';

/** What the filters need. */
export interface StatusFiltersProps {
  readonly counts: ReadonlyMap<ShownState, number>;
  /** The state that is shown alone; null for all. */
  readonly chosen: ShownState | null;
  readonly onChoose: (state: ShownState | null) => void;
}

/** A row of filters. */
export function StatusFilters({ counts, chosen, onChoose }: StatusFiltersProps): ReactElement {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return (
    <div className="fn-Filters" role="group" aria-label="Filter by status">
      <button
        type="button"
        className="fn-Filter"
        aria-pressed={chosen === null}
        aria-label={`All, ${total} jobs`}
        onClick={() => onChoose(null)}
      >
        All <span className="fn-Filter-count">{total}</span>
      </button>
      {STATES.map(row => {
        const count = counts.get(row.state) ?? 0;
        return (
          <button
            key={row.state}
            type="button"
            className={`fn-Filter${count === 0 ? ' fn-mod-none' : ''}`}
            aria-pressed={chosen === row.state}
            aria-label={`${row.word}, ${count} jobs`}
            title={`${row.word}: ${row.hint}`}
            onClick={() => onChoose(chosen === row.state ? null : row.state)}
          >
            <StateIcon state={row.state} />
            <span className="fn-Filter-word">{row.word}</span>
            <span className="fn-Filter-count">{count}</span>
          </button>
        );
      })}
    </div>
  );
}
