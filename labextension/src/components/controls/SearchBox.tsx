/** A search field with a magnifier icon and, while it has text, a button to clear it. */
import { closeIcon, searchIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { Glyph } from './icons';
import { IconButton } from './IconButton';
import { useTranslation } from '../translation';

/** Props of a search box. */
export interface SearchBoxProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A search field. */
export function SearchBox({ label, value, onChange }: SearchBoxProps): ReactElement {
  const trans = useTranslation();
  return (
    <div className="fn-SearchBox" role="search">
      <Glyph icon={searchIcon} />
      <input
        type="text"
        value={value}
        placeholder={label}
        aria-label={label}
        spellCheck={false}
        onChange={event => onChange(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Escape' && value !== '') {
            event.stopPropagation();
            onChange('');
          }
        }}
      />
      {value !== '' && (
        <IconButton icon={closeIcon} label={trans.__('Clear the search')} onClick={() => onChange('')} />
      )}
    </div>
  );
}
