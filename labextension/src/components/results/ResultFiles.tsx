/** The files of a result: download, insert into code, drag into a cell or a file field. */
import { addBelowIcon, downloadIcon, fileIcon } from '@jupyterlab/ui-components';
import type { MouseEvent, ReactElement } from 'react';

import type { ResultResponse } from '../../api/responses';
import { formatSize } from '../../models/formatting/size';
import { visibleText } from '../../models/formatting/text';
import { IconButton } from '../controls/IconButton';
import { MiddleText } from '../controls/MiddleText';
import { Glyph } from '../controls/icons';
import { useTranslation } from '../translation';

/** Actions on a result's files. */
export interface ResultFileActions {
  readonly onDownload: (file: string) => void;
  readonly onInsertFile: (file: string) => void;
  /** The mouse was pressed on a file, which may start a drag. */
  readonly onPressFile: (event: MouseEvent, file: string) => void;
}

/** The list. */
export function ResultFiles(props: ResultFileActions & { readonly files: ResultResponse['files'] }): ReactElement {
  const { onDownload, onInsertFile, onPressFile } = props;
  const trans = useTranslation();
  return (
    <ul className="fn-FileList" aria-label={trans.__('Files')}>
      {props.files.map(file => {
        const name = visibleText(file.name);
        return (
          <li
            className="fn-File"
            key={file.name}
            title={trans.__('%1: drag it into a cell or a file field', name)}
            onMouseDown={event => onPressFile(event, file.name)}
          >
            <Glyph icon={fileIcon} />
            <button
              type="button"
              className="fn-File-name fn-Link"
              aria-label={name}
              onClick={() => onDownload(file.name)}
            >
              <MiddleText text={name} />
            </button>
            <span className="fn-File-facts">
              {file.kind} · {formatSize(file.sizeBytes)}
            </span>
            <span className="fn-File-actions">
              <IconButton
                icon={addBelowIcon}
                label={trans.__('Insert %1 into the notebook', name)}
                onClick={() => onInsertFile(file.name)}
              />
              <IconButton icon={downloadIcon} label={trans.__('Save %1', name)} onClick={() => onDownload(file.name)} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
