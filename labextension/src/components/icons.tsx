/** Icons in the colour of the surrounding text; they are decorative, with text or a label beside them. */
import { caretDownIcon, caretRightIcon, type LabIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { stateIcons } from '../icons';
import type { ShownState } from '../models/status';

/** An icon of 16 pixels. */
export function Glyph({ icon }: { readonly icon: LabIcon }): ReactElement {
  return <icon.react tag="span" className="fn-Glyph" />;
}

/** The icon of a job's state. */
export function StateIcon({ state }: { readonly state: ShownState }): ReactElement {
  return (
    <span className={`fn-StateIcon fn-mod-${state}`}>
      <Glyph icon={stateIcons[state]} />
    </span>
  );
}

/** Points right when closed and down when open. */
export function FoldIcon({ isOpen }: { readonly isOpen: boolean }): ReactElement {
  return <Glyph icon={isOpen ? caretDownIcon : caretRightIcon} />;
}
