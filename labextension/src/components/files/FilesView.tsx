/** The account's files and folders: upload by drop, insert into code, drag, delete. */
import { useState, type DOMAttributes, type DragEvent, type ReactElement } from 'react';

import type { FileRecord } from '../../api/responses';
import { pathOf, type FilesState } from '../../models/files/files';
import { FileItem, type FileActions } from './FileItem';
import { FilesToolbar } from './FilesToolbar';
import { Notice } from '../controls/Notice';
import { UploadRow } from './UploadRow';
import { useTranslation } from '../translation';

/** Props of the view. */
export interface FilesViewProps extends FileActions {
  readonly state: FilesState;
  readonly onUpload: (files: readonly File[]) => void;
  /** Retries an upload that failed or is waiting. */
  readonly onResume: (upload: number) => void;
  readonly onDismiss: (upload: number) => void;
  readonly onLoadMore: () => void;
  readonly onRetry: () => void;
}

/** The files of the account. */
export function FilesView(props: FilesViewProps): ReactElement {
  const { files, requestError, folder, uploads, hasMore } = props.state;
  const trans = useTranslation();
  const [query, setQuery] = useState('');
  const { isDraggedOver, handlers } = useFileDrop(props.onUpload);
  const matching = (files ?? []).filter(file => matchesQuery(file, query));
  return (
    <div className={`fn-View fn-FilesView${isDraggedOver ? ' fn-mod-over' : ''}`} {...handlers}>
      {requestError !== null && (
        <Notice
          tone="warning"
          title={trans.__('The files cannot be shown or changed')}
          action={{ label: trans.__('Try now'), onClick: props.onRetry }}
        >
          {requestError}
        </Notice>
      )}
      <FilesToolbar
        query={query}
        folder={folder}
        onQuery={setQuery}
        onOpen={props.onOpenFolder}
        onUpload={props.onUpload}
      />
      {uploads.map(upload => (
        <UploadRow
          key={upload.id}
          upload={upload}
          onRetry={() => props.onResume(upload.id)}
          onDismiss={() => props.onDismiss(upload.id)}
        />
      ))}
      {files === null && requestError === null && <Notice tone="busy" title={trans.__('Loading files')} fillsView />}
      {files?.length === 0 && requestError === null && <EmptyFolder isTop={folder === null} />}
      {files !== null && files.length > 0 && matching.length === 0 && (
        <NoMatch hasMore={hasMore} onShowAll={() => setQuery('')} />
      )}
      {matching.length > 0 && (
        <ul className="fn-FileList" aria-label={trans.__('Files')}>
          {matching.map(file => (
            <FileItem key={`${file.fileId} ${pathOf(file)}`} file={file} {...props} />
          ))}
        </ul>
      )}
      {hasMore && (
        <button type="button" className="fn-Button fn-mod-more" onClick={props.onLoadMore}>
          {trans.__('Show more files')}
        </button>
      )}
    </div>
  );
}

/** Whether files are dragged over an element, and its handlers of drag events. */
interface FileDrop {
  readonly isDraggedOver: boolean;
  readonly handlers: Pick<DOMAttributes<HTMLElement>, 'onDragEnter' | 'onDragOver' | 'onDragLeave' | 'onDrop'>;
}

/** Lets files be dropped on an element; other things that are dragged are ignored. */
function useFileDrop(onUpload: (files: readonly File[]) => void): FileDrop {
  const [isDraggedOver, setDraggedOver] = useState(false);
  const onDrag = (event: DragEvent): void => {
    if (event.dataTransfer.types.includes('Files')) {
      event.preventDefault();
      setDraggedOver(true);
    }
  };
  return {
    isDraggedOver,
    handlers: {
      onDragEnter: onDrag,
      onDragOver: onDrag,
      onDragLeave: event => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) {
          setDraggedOver(false);
        }
      },
      onDrop: event => {
        event.preventDefault();
        setDraggedOver(false);
        onUpload([...event.dataTransfer.files]);
      }
    }
  };
}

/** Whether the file's name contains the query. */
function matchesQuery(file: FileRecord, query: string): boolean {
  return file.fileName.toLowerCase().includes(query.trim().toLowerCase());
}

/** A notice shown if no file matches the query. */
function NoMatch({ hasMore, onShowAll }: { readonly hasMore: boolean; readonly onShowAll: () => void }): ReactElement {
  const trans = useTranslation();
  return (
    <Notice
      tone="plain"
      title={trans.__('No matching files')}
      fillsView
      action={{ label: trans.__('Show all files'), onClick: onShowAll }}
    >
      {hasMore && trans.__('Only the files loaded so far are searched.')}
    </Notice>
  );
}

/** A notice shown if the folder has no files. */
function EmptyFolder({ isTop }: { readonly isTop: boolean }): ReactElement {
  const trans = useTranslation();
  return (
    <Notice tone="plain" title={isTop ? trans.__('No files yet') : trans.__('No files in this folder')} fillsView>
      {isTop
        ? trans.__('Drop files here from your desktop or from the file browser. Settings refer to them by name.')
        : trans.__('Drop files here. The service removes a folder that has no files.')}
    </Notice>
  );
}
