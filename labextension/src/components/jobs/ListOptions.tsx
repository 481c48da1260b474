/** Order and grouping of the list. */
import type { ReactElement } from 'react';

import { GROUPS, SORTS, type Choices, type Grouping, type Sort } from '../../models/jobs/choices';
import { Select } from '../controls/Select';
import { useTranslation } from '../translation';

/** Props of the options. */
export interface ListOptionsProps {
  readonly choices: Choices;
  readonly onChoose: (change: Partial<Choices>) => void;
}

/** The options. */
export function ListOptions({ choices, onChoose }: ListOptionsProps): ReactElement {
  const trans = useTranslation();
  const sorts: Readonly<Record<Sort, string>> = {
    newest: trans.__('Newest first'),
    oldest: trans.__('Oldest first'),
    ended: trans.__('Most recently ended first'),
    name: trans.__('By name'),
    status: trans.__('By status'),
    duration: trans.__('Longest first'),
    queue: trans.__('Longest in queue'),
    score: trans.__('Best score first')
  };
  const groups: Readonly<Record<Grouping, string>> = {
    none: trans.__('No grouping'),
    tool: trans.__('Group by tool'),
    day: trans.__('Group by day'),
    project: trans.__('Group by project'),
    notebook: trans.__('Group by notebook'),
    tags: trans.__('Group by tags')
  };
  return (
    <div className="fn-Options">
      <Select
        label={trans.__('Order')}
        values={SORTS}
        labels={sorts}
        chosen={choices.sort}
        onChoose={sort => onChoose({ sort })}
      />
      <Select
        label={trans.__('Groups')}
        values={GROUPS}
        labels={groups}
        chosen={choices.grouping}
        onChoose={grouping => onChoose({ grouping })}
      />
    </div>
  );
}
