/** The account's files and folders: upload by drop, insert into code, drag, delete. */
import { useState, type DragEvent, type ReactElement } from 'react';

import type { FileRecord } from '../api/responses';
import { pathOf, type FilesState } from '../models/files';
import { FileItem, type FileActions } from './FileItem';
import { FilesToolbar } from './FilesToolbar';
import { Notice } from './Notice';
import { UploadRow } from './UploadRow';
import { useWords } from './words';

/** Props of the view. */
export interface FilesViewProps extends FileActions {
  readonly state: FilesState;
  readonly onUpload: (files: readonly File[]) => void;
  /** Retries an upload that failed or is waiting. */
  readonly onResume: (upload: number) => void;
  readonly onDismiss: (upload: number) => void;
  readonly onMore: () => void;
  readonly onRetry: () => void;
}

/** The files of the account. */
export function FilesView(props: FilesViewProps): ReactElement {
  const { state, onUpload } = props;
  const trans = useWords();
  const [query, setQuery] = useState('');
  const [isOver, setOver] = useState(false);
  const { files, complaint, folder } = state;
  const shown = (files ?? []).filter(file => isFound(file, query));
  const onDrag = (event: DragEvent): void => {
    if (event.dataTransfer.types.includes('Files')) {
      event.preventDefault();
      setOver(true);
    }
  };
  return (
    <div
      className={`fn-View fn-FilesView${isOver ? ' fn-mod-over' : ''}`}
      onDragEnter={onDrag}
      onDragOver={onDrag}
      onDragLeave={event => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) {
          setOver(false);
        }
      }}
      onDrop={event => {
        event.preventDefault();
        setOver(false);
        onUpload([...event.dataTransfer.files]);
      }}
    >
      {complaint !== null && (
        <Notice
          tone="warning"
          title={trans.__('The files cannot be shown or changed')}
          action={{ label: trans.__('Try now'), onClick: props.onRetry }}
        >
          {complaint}
        </Notice>
      )}
      <FilesToolbar query={query} folder={folder} onQuery={setQuery} onOpen={props.onOpenFolder} onUpload={onUpload} />
      {state.uploads.map(upload => (
        <UploadRow
          key={upload.id}
          upload={upload}
          onRetry={() => props.onResume(upload.id)}
          onDismiss={() => props.onDismiss(upload.id)}
        />
      ))}
      {files === null && complaint === null && <Notice tone="busy" title={trans.__('Loading files')} isWhole />}
      {files?.length === 0 && complaint === null && <Nothing isTop={folder === null} />}
      {files !== null && files.length > 0 && shown.length === 0 && (
        <Notice
          tone="plain"
          title={trans.__('No matching files')}
          isWhole
          action={{ label: trans.__('Show all files'), onClick: () => setQuery('') }}
        >
          {state.hasMore && trans.__('Only the files loaded so far are searched.')}
        </Notice>
      )}
      {shown.length > 0 && (
        <ul className="fn-FileList" aria-label={trans.__('Files')}>
          {shown.map(file => (
            <FileItem key={`${file.fileId} ${pathOf(file)}`} file={file} {...props} />
          ))}
        </ul>
      )}
      {state.hasMore && (
        <button type="button" className="fn-Button fn-mod-more" onClick={props.onMore}>
          {trans.__('Show more files')}
        </button>
      )}
    </div>
  );
}

function isFound(file: FileRecord, query: string): boolean {
  return file.fileName.toLowerCase().includes(query.trim().toLowerCase());
}

function Nothing({ isTop }: { readonly isTop: boolean }): ReactElement {
  const trans = useWords();
  return (
    <Notice tone="plain" title={isTop ? trans.__('No files yet') : trans.__('No files in this folder')} isWhole>
      {isTop
        ? trans.__('Drop files here from your desktop or from the file browser. Settings refer to them by name.')
        : trans.__('Drop files here. The service removes a folder that has no files.')}
    </Notice>
  );
}
