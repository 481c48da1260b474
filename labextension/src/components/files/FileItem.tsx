/** A file or a folder of the account in the list. */
import { addBelowIcon, deleteIcon, fileIcon, folderIcon } from '@jupyterlab/ui-components';
import type { MouseEvent, ReactElement } from 'react';

import type { FileRecord } from '../../api/responses';
import { pathOf } from '../../models/files/files';
import { formatSize } from '../../models/formatting/size';
import { visibleText } from '../../models/formatting/text';
import { formatAge, formatMoment } from '../../models/formatting/time';
import { IconButton } from '../controls/IconButton';
import { MiddleText } from '../controls/MiddleText';
import { Glyph } from '../controls/icons';
import { useTranslation } from '../translation';

/** Actions on files. */
export interface FileActions {
  readonly onInsert: (path: string) => void;
  /** The mouse was pressed on a file, which may start a drag. */
  readonly onPressFile: (event: MouseEvent, path: string) => void;
  /** Asks for confirmation first. */
  readonly onDelete: (path: string) => void;
  /** Null for the top level. */
  readonly onOpenFolder: (folder: string | null) => void;
  /** Asks for confirmation first. */
  readonly onDeleteFolder: (folder: string) => void;
}

/** A row. */
export function FileItem(props: FileActions & { readonly file: FileRecord }): ReactElement {
  const { file } = props;
  const trans = useTranslation();
  const path = pathOf(file);
  const name = visibleText(file.fileName);
  const age = file.uploadTime ? formatAge((Date.now() - Date.parse(file.uploadTime)) / 1000, trans) : '';
  const facts = [file.fileSize === null ? '' : formatSize(file.fileSize), age].filter(Boolean);
  return (
    <li
      className="fn-File"
      onMouseDown={file.isFolder ? undefined : event => props.onPressFile(event, path)}
      title={file.isFolder ? undefined : trans.__('%1: drag it into a cell or a file field', visibleText(path))}
    >
      {file.isFolder ? <Glyph icon={folderIcon} /> : <Glyph icon={fileIcon} />}
      {file.isFolder ? (
        <button
          type="button"
          className="fn-File-name fn-Link"
          aria-label={name}
          onClick={() => props.onOpenFolder(path)}
        >
          <MiddleText text={name} />
        </button>
      ) : (
        <span className="fn-File-name">
          <MiddleText text={name} />
        </span>
      )}
      <span className="fn-File-facts" title={formatMoment(file.uploadTime)}>
        {facts.join(' · ')}
      </span>
      <span className="fn-File-actions">
        {!file.isFolder && (
          <IconButton
            icon={addBelowIcon}
            label={trans.__('Insert %1 into the notebook', name)}
            onClick={() => props.onInsert(path)}
          />
        )}
        <IconButton
          icon={deleteIcon}
          label={file.isFolder ? trans.__('Delete the folder %1', name) : trans.__('Delete %1', name)}
          onClick={() => (file.isFolder ? props.onDeleteFolder(path) : props.onDelete(path))}
        />
      </span>
    </li>
  );
}
