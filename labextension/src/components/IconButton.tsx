/** A button that is only a drawing; its name is read out and shown as a tooltip. */
import type { LabIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { Glyph } from './icons';

/** What an icon button needs. */
export interface IconButtonProps {
  readonly label: string;
  readonly icon: LabIcon;
  readonly onClick?: () => void;
  /** The same, for those who want to know where the button is. */
  readonly onPress?: (button: HTMLElement) => void;
  readonly isDisabled?: boolean;
  readonly isPressed?: boolean;
  /** Whether the menu that the button opens is open; undefined where it opens none. */
  readonly isMenuOpen?: boolean;
  readonly tabIndex?: number;
}

/** A drawing that can be pressed. */
export function IconButton(props: IconButtonProps): ReactElement {
  return (
    <button
      type="button"
      className="fn-IconButton"
      title={props.label}
      aria-label={props.label}
      aria-pressed={props.isPressed}
      aria-haspopup={props.isMenuOpen === undefined ? undefined : 'menu'}
      aria-expanded={props.isMenuOpen}
      disabled={props.isDisabled}
      tabIndex={props.tabIndex}
      onMouseDown={event => event.stopPropagation()}
      onDoubleClick={event => event.stopPropagation()}
      onClick={event => {
        event.stopPropagation();
        props.onClick?.();
        props.onPress?.(event.currentTarget);
      }}
    >
      <Glyph icon={props.icon} />
    </button>
  );
}
