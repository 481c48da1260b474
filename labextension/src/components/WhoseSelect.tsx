/** Selects between your own jobs and those of the organization. */
import type { ReactElement } from 'react';

import { WHOSE, type Whose } from '../models/choices';
import { Select } from './Select';
import { useWords } from './words';

/** Props of the list. */
export interface WhoseSelectProps {
  readonly chosen: Whose;
  readonly onChoose: (whose: Whose) => void;
}

/** A drop-down list. */
export function WhoseSelect({ chosen, onChoose }: WhoseSelectProps): ReactElement {
  const trans = useWords();
  return (
    <Select
      label={trans.__('Owner of the jobs')}
      values={WHOSE}
      words={{ mine: trans.__('My jobs'), organization: trans.__('Organization') }}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
