/** A menu to select the details that rows of jobs show; it stays open for several selections. */
import { checkIcon } from '@jupyterlab/ui-components';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';

import { columnsIcon } from '../../icons';
import { DETAILS, toggleDetail, type Detail } from '../../models/jobs/details';
import { nextIndex } from '../../models/jobs/selection';
import { IconButton } from '../controls/IconButton';
import { Glyph } from '../controls/icons';
import { useTranslation } from '../translation';

/** Props of the menu. */
export interface DetailsMenuProps {
  readonly details: readonly Detail[];
  readonly onChoose: (change: { readonly details: readonly Detail[] }) => void;
}

/** A button with the menu below it. */
export function DetailsMenu({ details, onChoose }: DetailsMenuProps): ReactElement {
  const trans = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) {
      return undefined;
    }
    const onPointer = ({ target: next }: Event): void => {
      if (!(next instanceof Node && box.current?.contains(next))) {
        setOpen(false);
      }
    };
    itemsOf(box.current)[0]?.focus();
    document.addEventListener('pointerdown', onPointer, true);
    return () => document.removeEventListener('pointerdown', onPointer, true);
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  return (
    <div className="fn-Details" ref={box}>
      <IconButton
        icon={columnsIcon}
        label={trans.__('Choose the details shown in rows')}
        isMenuOpen={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && <Menu details={details} onChoose={onChoose} onClose={close} />}
    </div>
  );
}

function Menu(props: DetailsMenuProps & { readonly onClose: () => void }): ReactElement {
  const { details, onChoose, onClose } = props;
  const trans = useTranslation();
  const labels: Readonly<Record<Detail, string>> = {
    tool: trans.__('Tool'),
    notebook: trans.__('Notebook'),
    score: trans.__('Score'),
    duration: trans.__('Duration'),
    queue: trans.__('Time in queue'),
    hours: trans.__('Weighted hours'),
    ended: trans.__('End time'),
    age: trans.__('Age'),
    progress: trans.__('Progress'),
    tags: trans.__('Project and tags'),
    reason: trans.__('Reason for failure')
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const items = itemsOf(event.currentTarget);
    const index = items.findIndex(item => item === event.target);
    const next = nextIndex(event.key, index, items.length, items.length);
    if (event.key === 'Escape' || event.key === 'Tab') {
      onClose();
    } else if (event.key === 'Enter' || event.key === ' ') {
      items[index]?.click();
    } else {
      items[next]?.focus();
    }
    event.stopPropagation();
    if (event.key !== 'Tab') {
      event.preventDefault();
    }
  };
  return (
    <div
      className="fn-Details-menu"
      role="menu"
      tabIndex={-1}
      aria-label={trans.__('Details shown in rows')}
      onKeyDown={onKeyDown}
    >
      {DETAILS.map(detail => (
        <div
          key={detail}
          className="fn-Details-item"
          role="menuitemcheckbox"
          tabIndex={-1}
          aria-checked={details.includes(detail)}
          onClick={() => onChoose({ details: toggleDetail(details, detail) })}
        >
          <Glyph icon={checkIcon} />
          {labels[detail]}
        </div>
      ))}
    </div>
  );
}

function itemsOf(node: HTMLElement | null): readonly HTMLElement[] {
  return [...(node?.querySelectorAll<HTMLElement>('[role=menuitemcheckbox]') ?? [])];
}
