/** Selects between your own jobs and those of the organization. */
import type { ReactElement } from 'react';

import { JOB_OWNERS, type JobOwner } from '../../models/jobs/choices';
import { Select } from '../controls/Select';
import { useTranslation } from '../translation';

/** Props of the list. */
export interface WhoseSelectProps {
  readonly chosen: JobOwner;
  readonly onChoose: (whose: JobOwner) => void;
}

/** A drop-down list. */
export function WhoseSelect({ chosen, onChoose }: WhoseSelectProps): ReactElement {
  const trans = useTranslation();
  return (
    <Select
      label={trans.__('Owner of the jobs')}
      values={JOB_OWNERS}
      labels={{ mine: trans.__('My jobs'), organization: trans.__('Organization') }}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
