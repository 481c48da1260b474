/** Icons in the colour of the surrounding text; they are decorative, with text or a label beside them. */
import { caretDownIcon, caretRightIcon, type LabIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { mixedIcon, stateIcons } from '../../icons';
import type { JobRecord } from '../../api/responses';
import { isMixed, shownState, type ShownState } from '../../models/jobs/status';

/** An icon of 16 pixels. */
export function Glyph({ icon }: { readonly icon: LabIcon }): ReactElement {
  return <icon.react tag="span" className="fn-Glyph" />;
}

/** The icon of a state. */
export function StateIcon({ state }: { readonly state: ShownState | 'mixed' }): ReactElement {
  return (
    <span className={`fn-StateIcon fn-mod-${state}`}>
      <Glyph icon={state === 'mixed' ? mixedIcon : stateIcons[state]} />
    </span>
  );
}

/** The icon of a job's state; for a complete batch it also shows whether jobs failed. */
export function JobIcon({ job }: { readonly job: JobRecord }): ReactElement {
  return <StateIcon state={isMixed(job) ? 'mixed' : shownState(job)} />;
}

/** Points right when closed and down when open. */
export function FoldIcon({ isOpen }: { readonly isOpen: boolean }): ReactElement {
  return <Glyph icon={isOpen ? caretDownIcon : caretRightIcon} />;
}
