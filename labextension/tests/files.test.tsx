/** The files of the account: seen, searched, opened, sent, deleted. */
import { fireEvent, render, screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import type { ReactElement } from 'react';

import type { FileRecord } from '../src/api/responses';
import { FilesView, type FilesViewProps } from '../src/components/files/FilesView';
import type { FilesState, Upload } from '../src/models/files/files';

const EMPTY: FilesState = {
  folder: null,
  files: [],
  hasMore: false,
  isLoading: false,
  uploads: [],
  requestError: null
};

function makeFile(change: Partial<FileRecord> = {}): FileRecord {
  return {
    fileId: 'f1',
    fileName: 'target.pdb',
    fileSize: 271_400,
    uploadTime: new Date(Date.now() - 7_200_000).toISOString(),
    folder: null,
    isFolder: false,
    ...change
  } as FileRecord;
}

function makeUpload(change: Partial<Upload> = {}): Upload {
  return { id: 1, name: 'big.pdb', phase: 'sending', fraction: 0.5, reason: null, fault: null, ...change };
}

function view(state: Partial<FilesState>, handlers: Partial<FilesViewProps> = {}): ReactElement {
  const rest: Omit<FilesViewProps, 'state'> = {
    onUpload: vi.fn(),
    onResume: vi.fn(),
    onDismiss: vi.fn(),
    onLoadMore: vi.fn(),
    onRetry: vi.fn(),
    onInsert: vi.fn(),
    onPressFile: vi.fn(),
    onDelete: vi.fn(),
    onOpenFolder: vi.fn(),
    onDeleteFolder: vi.fn()
  };
  return <FilesView {...rest} {...handlers} state={{ ...EMPTY, ...state }} />;
}

const shown = (): (string | undefined)[] =>
  screen.queryAllByRole('listitem').map(item => item.querySelector('bdi')?.textContent ?? undefined);

describe('the list of files', () => {
  it('shows the size and age of a file', () => {
    render(view({ files: [makeFile()] }));
    expect(screen.getByRole('listitem').textContent).toContain('271 kB · 2 h ago');
  });

  it('passes the path of a file to its actions', async () => {
    const [onInsert, onDelete, onPressFile] = [vi.fn(), vi.fn(), vi.fn()];
    render(view({ files: [makeFile({ folder: 'set' })], folder: 'set' }, { onInsert, onDelete, onPressFile }));
    await userEvent.click(screen.getByRole('button', { name: 'Insert target.pdb into the notebook' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete target.pdb' }));
    expect(onInsert).toHaveBeenCalledWith('set/target.pdb');
    expect(onDelete).toHaveBeenCalledWith('set/target.pdb');
    fireEvent.mouseDown(screen.getByRole('listitem'));
    expect(onPressFile).toHaveBeenLastCalledWith(expect.anything(), 'set/target.pdb');
  });

  it('opens a folder, which can be neither inserted nor dragged', async () => {
    const [onOpenFolder, onDeleteFolder, onPressFile] = [vi.fn(), vi.fn(), vi.fn()];
    const folder = makeFile({ fileName: 'set', isFolder: true, fileSize: null, uploadTime: null });
    render(view({ files: [folder] }, { onOpenFolder, onDeleteFolder, onPressFile }));
    expect(screen.queryByRole('button', { name: /Insert/ })).toBeNull();
    fireEvent.mouseDown(screen.getByRole('listitem'));
    expect(onPressFile).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole('button', { name: 'set' }));
    await userEvent.click(screen.getByRole('button', { name: 'Delete the folder set' }));
    expect([onOpenFolder.mock.calls, onDeleteFolder.mock.calls]).toEqual([[['set']], [['set']]]);
  });

  it('shows hostile names as text', () => {
    render(view({ files: [makeFile({ fileName: '<img src=x>\u202e.csv' })] }));
    expect(shown()).toEqual(['<img src=x>\ufffd.csv']);
    expect(document.querySelector('img')).toBeNull();
  });

  it('can be searched, and offers to show all files if none matches', async () => {
    render(view({ files: [makeFile(), makeFile({ fileId: 'f2', fileName: 'table.csv' })], hasMore: true }));
    await userEvent.type(screen.getByLabelText('Search files'), ' CSV ');
    expect(shown()).toEqual(['table.csv']);
    await userEvent.type(screen.getByLabelText('Search files'), 'zzz');
    expect(screen.getByText('Only the files loaded so far are searched.')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Show all files' }));
    expect(shown()).toHaveLength(2);
  });

  it('loads more files on demand', async () => {
    const onLoadMore = vi.fn();
    render(view({ files: [makeFile()], hasMore: true }, { onLoadMore }));
    await userEvent.click(screen.getByRole('button', { name: 'Show more files' }));
    expect(onLoadMore).toHaveBeenCalledOnce();
  });
});

describe('without files', () => {
  it('shows that files are loading', () => {
    render(view({ files: null }));
    expect(screen.getByText('Loading files')).toBeTruthy();
  });

  it('explains how to add files, at the top level and in a folder', () => {
    const { rerender } = render(view({}));
    expect(screen.getByText('No files yet')).toBeTruthy();
    rerender(view({ folder: 'set' }));
    expect(screen.getByText('No files in this folder')).toBeTruthy();
  });

  it('shows why files cannot be listed, and retries on demand', async () => {
    const onRetry = vi.fn();
    render(view({ files: null, requestError: 'The service does not answer.' }, { onRetry }));
    expect(screen.queryByText('Loading files')).toBeNull();
    expect(screen.getByText('The service does not answer.')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Try now' }));
    expect(onRetry).toHaveBeenCalledOnce();
  });
});

describe('folders', () => {
  it('have a breadcrumb for each parent', async () => {
    const onOpenFolder = vi.fn();
    render(view({ folder: 'a/b/c' }, { onOpenFolder }));
    const way = within(screen.getByRole('navigation', { name: 'Folder' }));
    expect(way.getByText('c').getAttribute('aria-current')).toBe('location');
    await userEvent.click(way.getByRole('button', { name: 'b' }));
    await userEvent.click(way.getByRole('button', { name: 'All files' }));
    expect(onOpenFolder.mock.calls).toEqual([['a/b'], [null]]);
  });

  it('are created inside the current one', async () => {
    const onOpenFolder = vi.fn();
    render(view({ folder: 'a' }, { onOpenFolder }));
    await userEvent.click(screen.getByRole('button', { name: 'New folder' }));
    await userEvent.type(screen.getByRole('textbox', { name: 'Folder name' }), ' new {Enter}');
    expect(onOpenFolder).toHaveBeenCalledWith('a/new');
    expect(screen.queryByRole('textbox', { name: 'Folder name' })).toBeNull();
  });

  it.each(['a/b', 'a\\b', '.', '..'])('cannot be named %s', async name => {
    const onOpenFolder = vi.fn();
    render(view({}, { onOpenFolder }));
    await userEvent.click(screen.getByRole('button', { name: 'New folder' }));
    const field = screen.getByRole('textbox', { name: 'Folder name' });
    await userEvent.type(field, `${name}{Enter}`);
    expect(onOpenFolder).not.toHaveBeenCalled();
    expect(field.getAttribute('aria-invalid')).toBe('true');
    expect(screen.getByText(/must not contain \//)).toBeTruthy();
  });

  it('are not created after Escape or Discard', async () => {
    render(view({}));
    for (const discard of [
      () => userEvent.keyboard('{Escape}'),
      () => userEvent.click(screen.getByRole('button', { name: 'Discard the new folder' }))
    ]) {
      await userEvent.click(screen.getByRole('button', { name: 'New folder' }));
      await discard();
      expect(screen.queryByRole('textbox', { name: 'Folder name' })).toBeNull();
    }
  });
});

describe('uploading', () => {
  const file = new File(['x'], 'a.pdb');

  it('starts with the button', async () => {
    const onUpload = vi.fn();
    render(view({}, { onUpload }));
    await userEvent.upload(screen.getByLabelText('Files to upload'), [file]);
    expect(onUpload).toHaveBeenCalledWith([file]);
  });

  it('starts with a drop, and highlights the drop target', () => {
    const onUpload = vi.fn();
    const { container } = render(view({}, { onUpload }));
    const target = container.firstElementChild as HTMLElement;
    const dataTransfer = { types: ['Files'], files: [file] };
    fireEvent.dragEnter(target, { dataTransfer });
    expect(target.className).toContain('fn-mod-over');
    fireEvent.dragLeave(target, { dataTransfer });
    expect(target.className).not.toContain('fn-mod-over');
    fireEvent.drop(target, { dataTransfer });
    expect(onUpload).toHaveBeenCalledWith([file]);
  });

  it('ignores dragged items that are not files', () => {
    const { container } = render(view({}));
    const target = container.firstElementChild as HTMLElement;
    fireEvent.dragEnter(target, { dataTransfer: { types: ['text/plain'], files: [] } });
    expect(target.className).not.toContain('fn-mod-over');
  });

  it.each([
    [makeUpload(), 'Sending to Jupyter · 50 %', '50'],
    [makeUpload({ phase: 'passing', fraction: null }), 'Sending to the service', null],
    [makeUpload({ phase: 'waiting' }), 'The connection was lost. The upload will resume.', '50']
  ])('shows its progress: %o', (upload, text, value) => {
    render(view({ uploads: [upload] }));
    expect(screen.getByText(text)).toBeTruthy();
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe(value);
  });

  it('shows no progress bar for a queued upload', () => {
    render(view({ uploads: [makeUpload({ phase: 'queued', fraction: null })] }));
    expect(screen.getByText('Waiting for other uploads')).toBeTruthy();
    expect(screen.queryByRole('progressbar')).toBeNull();
  });

  it('shows why it is waiting for the service', () => {
    render(view({ uploads: [makeUpload({ phase: 'passing', reason: 'The service is busy.' })] }));
    expect(screen.getByText('The service is busy. Retrying automatically; you need not upload it again.')).toBeTruthy();
  });

  it('shows why it failed, and can be retried or dismissed', async () => {
    const [onResume, onDismiss] = [vi.fn(), vi.fn()];
    const failed = makeUpload({ id: 7, phase: 'failed', fault: 'The file is too large.' });
    render(view({ uploads: [failed] }, { onResume, onDismiss }));
    expect(screen.getByRole('alert').textContent).toBe('The file is too large.');
    await userEvent.click(screen.getByRole('button', { name: 'Retry the upload of big.pdb' }));
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss the upload of big.pdb' }));
    expect([onResume.mock.calls, onDismiss.mock.calls]).toEqual([[[7]], [[7]]]);
  });

  it('can be cancelled', async () => {
    const onDismiss = vi.fn();
    render(view({ uploads: [makeUpload({ id: 3 })] }, { onDismiss }));
    expect(screen.queryByRole('button', { name: /again/ })).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Cancel the upload of big.pdb' }));
    expect(onDismiss).toHaveBeenCalledWith(3);
  });
});
