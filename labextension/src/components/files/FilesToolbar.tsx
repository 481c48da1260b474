/** Toolbar of the files: search, path of the current folder, new folder, upload. */
import { closeIcon, fileUploadIcon, newFolderIcon } from '@jupyterlab/ui-components';
import { useRef, useState, type ReactElement } from 'react';

import { visibleText } from '../../models/formatting/text';
import { IconButton } from '../controls/IconButton';
import { Glyph } from '../controls/icons';
import { SearchBox } from '../controls/SearchBox';
import { useTranslation } from '../translation';

/** Props of the toolbar. */
export interface FilesToolbarProps {
  readonly query: string;
  /** The current folder; null at the top level. */
  readonly folder: string | null;
  readonly onQuery: (query: string) => void;
  readonly onOpen: (folder: string | null) => void;
  readonly onUpload: (files: readonly File[]) => void;
}

/** The toolbar. */
export function FilesToolbar(props: FilesToolbarProps): ReactElement {
  const { query, folder, onQuery, onOpen } = props;
  const trans = useTranslation();
  const [isNaming, setNaming] = useState(false);
  return (
    <div className="fn-Toolbar">
      <div className="fn-Toolbar-row">
        <SearchBox label={trans.__('Search files')} value={query} onChange={onQuery} />
        <IconButton
          icon={newFolderIcon}
          label={trans.__('New folder')}
          isPressed={isNaming}
          onClick={() => setNaming(!isNaming)}
        />
        <UploadButton onUpload={props.onUpload} />
      </div>
      {isNaming && (
        <NewFolder
          onName={name => {
            setNaming(false);
            onOpen(folder === null ? name : `${folder}/${name}`);
          }}
          onCancel={() => setNaming(false)}
        />
      )}
      {folder !== null && <Breadcrumbs folder={folder} onOpen={onOpen} />}
    </div>
  );
}

/** Breadcrumbs: the folders from the top level to the current one. */
function Breadcrumbs(props: { readonly folder: string; readonly onOpen: FilesToolbarProps['onOpen'] }): ReactElement {
  const trans = useTranslation();
  const parts = props.folder.split('/');
  return (
    <nav className="fn-Way" aria-label={trans.__('Folder')}>
      <button type="button" className="fn-Link" onClick={() => props.onOpen(null)}>
        {trans.__('All files')}
      </button>
      {parts.map((part, index) => {
        const path = parts.slice(0, index + 1).join('/');
        const isLast = index === parts.length - 1;
        return (
          <span key={path} className="fn-Way-step">
            {isLast ? (
              <bdi aria-current="location" title={visibleText(part)}>
                {visibleText(part)}
              </bdi>
            ) : (
              <button type="button" className="fn-Link" onClick={() => props.onOpen(path)}>
                <bdi>{visibleText(part)}</bdi>
              </button>
            )}
          </span>
        );
      })}
    </nav>
  );
}

function NewFolder(props: { readonly onName: (name: string) => void; readonly onCancel: () => void }): ReactElement {
  const trans = useTranslation();
  const [name, setName] = useState('');
  const isValid = /^[^/\\]+$/.test(name.trim()) && !/^\.+$/.test(name.trim());
  return (
    <form
      className="fn-Toolbar-row"
      onSubmit={event => {
        event.preventDefault();
        if (isValid) {
          props.onName(name.trim());
        }
      }}
    >
      <input
        type="text"
        className="fn-Input"
        autoFocus
        value={name}
        placeholder={trans.__('Folder name')}
        aria-label={trans.__('Folder name')}
        aria-invalid={name !== '' && !isValid}
        aria-describedby={name !== '' && !isValid ? 'fn-folder-rule' : undefined}
        onChange={event => setName(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            props.onCancel();
          }
        }}
      />
      <button type="submit" className="fn-Button fn-mod-small" disabled={!isValid}>
        {trans.__('Open')}
      </button>
      <IconButton icon={closeIcon} label={trans.__('Discard the new folder')} onClick={props.onCancel} />
      {name !== '' && !isValid && (
        <p className="fn-Tool-method" id="fn-folder-rule" role="status">
          {trans.__('A folder name must not contain / or \\, or consist of dots only.')}
        </p>
      )}
    </form>
  );
}

function UploadButton(props: { readonly onUpload: FilesToolbarProps['onUpload'] }): ReactElement {
  const trans = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="fn-Button fn-mod-small" onClick={() => input.current?.click()}>
        <Glyph icon={fileUploadIcon} /> {trans.__('Upload')}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={trans.__('Files to upload')}
        onChange={event => {
          props.onUpload([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}
