/** A button with only an icon; its label is its accessible name and its tooltip. */
import type { LabIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { Glyph } from './icons';

/** Props of an icon button. */
export interface IconButtonProps {
  readonly label: string;
  readonly icon: LabIcon;
  readonly onClick?: () => void;
  /** Called like `onClick`, with the button's element. */
  readonly onPress?: (button: HTMLElement) => void;
  readonly isDisabled?: boolean;
  readonly isPressed?: boolean;
  /** Whether the button's menu is open; undefined without a menu. */
  readonly isMenuOpen?: boolean;
  readonly tabIndex?: number;
}

/** The button. */
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
