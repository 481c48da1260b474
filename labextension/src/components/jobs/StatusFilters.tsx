/** Counts of jobs by state, each of which is a filter. */
import { useMemo, type ReactElement } from 'react';

import type { JobRecord } from '../../api/responses';
import { countListed } from '../../models/jobs/listing';
import { STATES, type ShownState } from '../../models/jobs/status';
import { formatCount } from '../../models/formatting/text';
import { StateIcon } from '../controls/icons';
import { useTranslation } from '../translation';

/** Props of the filters. */
export interface StatusFiltersProps {
  /** The jobs to count; one can be listed by several filters. */
  readonly jobs: readonly JobRecord[];
  /** Whether there are older jobs that are not counted. */
  readonly hasMore?: boolean;
  /** The state to show; null for all. */
  readonly chosen: ShownState | null;
  readonly onChoose: (state: ShownState | null) => void;
}

/** A row of filters. */
export function StatusFilters(props: StatusFiltersProps): ReactElement {
  const { chosen, onChoose } = props;
  const trans = useTranslation();
  const counts = useMemo(() => countListed(props.jobs), [props.jobs]);
  const total = props.jobs.length;
  const more = props.hasMore ? '+' : '';
  const describeCount = (count: number): string => trans._n('%2 job', '%2 jobs', count, formatCount(count));
  return (
    <div className="fn-Filters" role="group" aria-label={trans.__('Filter by status')}>
      <button
        type="button"
        className="fn-Filter"
        aria-pressed={chosen === null}
        aria-label={`${trans.__('All')}, ${describeCount(total)}`}
        title={`${trans.__('All')}, ${describeCount(total)}`}
        onClick={() => onChoose(null)}
      >
        {trans.__('All')}{' '}
        <span className="fn-Filter-count">
          {shortCount(total)}
          {more}
        </span>
      </button>
      {STATES.map(row => {
        const count = counts.get(row.state) ?? 0;
        return (
          <button
            key={row.state}
            type="button"
            className={`fn-Filter${count === 0 ? ' fn-mod-none' : ''}`}
            aria-pressed={chosen === row.state}
            aria-label={`${trans.__(row.label)}, ${describeCount(count)}`}
            title={`${trans.__(row.label)}, ${describeCount(count)}: ${trans.__(row.hint)}`}
            onClick={() => onChoose(chosen === row.state ? null : row.state)}
          >
            <StateIcon state={row.state} />
            <span className="fn-Filter-word">{trans.__(row.label)}</span>
            <span className="fn-Filter-count">{shortCount(count)}</span>
          </button>
        );
      })}
    </div>
  );
}

/** Formats a count in at most five characters, since six filters share a narrow line: `2,000`, `12k`. */
function shortCount(count: number): string {
  return count < 10_000 ? formatCount(count) : `${formatCount(Math.floor(count / 1000))}k`;
}
