/** The account's files: sent by dropping them here, put into code, deleted. */
import { useRef, useState, type DragEvent, type ReactElement } from 'react';

import type { FileRecord } from '../api/answers';
import { pathOf, type FilesState, type Upload } from '../models/files';
import { formatSize } from '../models/size';
import { visibleText } from '../models/text';
import { formatAge, formatMoment } from '../models/time';
import { IconButton } from './IconButton';
import { CloseIcon, DeleteIcon, FileIcon, InsertIcon, UploadIcon } from './icons';
import { Notice } from './Notice';
import { SearchBox } from './SearchBox';
import { useWords } from './words';

/** What the view needs. */
export interface FilesViewProps {
  readonly state: FilesState;
  readonly onUpload: (files: readonly File[]) => void;
  readonly onDismiss: (upload: number) => void;
  readonly onInsert: (path: string) => void;
  /** Asks the person first. */
  readonly onDelete: (path: string) => void;
  readonly onMore: () => void;
  readonly onRetry: () => void;
}

/** The files of the account. */
export function FilesView(props: FilesViewProps): ReactElement {
  const { state, onUpload } = props;
  const trans = useWords();
  const [query, setQuery] = useState('');
  const [isOver, setOver] = useState(false);
  const { files, complaint } = state;
  const shown = (files ?? []).filter(file => pathOf(file).toLowerCase().includes(query.toLowerCase()));
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
      <div className="fn-Toolbar">
        <div className="fn-Toolbar-row">
          <SearchBox label={trans.__('Search files')} value={query} onChange={setQuery} />
          <UploadButton onUpload={onUpload} />
        </div>
      </div>
      {state.uploads.map(upload => (
        <UploadRow key={upload.id} upload={upload} onDismiss={() => props.onDismiss(upload.id)} />
      ))}
      {files === null && complaint === null && (
        <Notice tone="busy" title={trans.__('Asking for the files')} isWhole />
      )}
      {files?.length === 0 && (
        <Notice tone="plain" title={trans.__('No files yet')} isWhole>
          {trans.__(
            'Drop files here from your desktop or from the file browser. Jobs take them by their name.'
          )}
        </Notice>
      )}
      {shown.length > 0 && (
        <ul className="fn-FileList" aria-label={trans.__('Files')}>
          {shown.map(file => (
            <FileItem key={pathOf(file)} file={file} {...props} />
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

function UploadButton(props: { readonly onUpload: FilesViewProps['onUpload'] }): ReactElement {
  const trans = useWords();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" className="fn-Button fn-mod-small" onClick={() => input.current?.click()}>
        <UploadIcon /> {trans.__('Upload')}
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

function UploadRow(props: { readonly upload: Upload; readonly onDismiss: () => void }): ReactElement {
  const { name, fraction, fault } = props.upload;
  const trans = useWords();
  const shown = visibleText(name);
  const percent = fraction === null ? null : Math.round(fraction * 100);
  return (
    <div className="fn-Upload">
      <bdi className="fn-File-name">{shown}</bdi>
      <IconButton
        label={fault === null ? trans.__('Give up the upload of %1', shown) : trans.__('Dismiss')}
        onClick={props.onDismiss}
      >
        <CloseIcon />
      </IconButton>
      {fault !== null ? (
        <p className="fn-JobRow-error" role="alert">
          {fault}
        </p>
      ) : (
        <div
          className={`fn-Bar${percent === null || percent === 100 ? ' fn-mod-endless' : ''}`}
          role="progressbar"
          aria-label={trans.__('Upload of %1', shown)}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={percent ?? undefined}
        >
          <div className="fn-Bar-done" style={{ width: `${percent ?? 0}%` }} />
        </div>
      )}
    </div>
  );
}

function FileItem(props: FilesViewProps & { readonly file: FileRecord }): ReactElement {
  const { file } = props;
  const trans = useWords();
  const path = pathOf(file);
  const name = visibleText(path);
  const age = file.uploadTime
    ? formatAge((Date.now() - Date.parse(file.uploadTime)) / 1000, trans)
    : '';
  const facts = [file.fileSize === null ? '' : formatSize(file.fileSize), age].filter(Boolean);
  return (
    <li className="fn-File">
      <FileIcon />
      <bdi className="fn-File-name" title={name}>
        {name}
      </bdi>
      <span className="fn-File-facts" title={formatMoment(file.uploadTime)}>
        {facts.join(' · ')}
      </span>
      <span className="fn-File-actions">
        <IconButton
          label={trans.__('Insert %1 into the notebook', name)}
          onClick={() => props.onInsert(path)}
        >
          <InsertIcon />
        </IconButton>
        <IconButton label={trans.__('Delete %1', name)} onClick={() => props.onDelete(path)}>
          <DeleteIcon />
        </IconButton>
      </span>
    </li>
  );
}
