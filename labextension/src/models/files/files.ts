/** The files of the account, and the uploads in progress. */
import type { FileRecord, FilesResponse, UploadResponse } from '../../api/responses';
import { Store } from '../store';
import { messageOf } from '../formatting/text';
import { FileUpload, type Pauses, type Progress, type UploadSource } from './uploads';

/** The server routes for files. */
export interface FilesSource extends UploadSource {
  /** This source, bound to the currently selected service. */
  withFixedProfile(): FilesSource;
  files(folder: string | null, offset: number): Promise<FilesResponse>;
  uploadContents(path: string, folder: string | null): Promise<UploadResponse>;
  deleteFile(path: string): Promise<void>;
  deleteFolder(path: string): Promise<void>;
}

/** An upload. */
export interface Upload {
  readonly id: number;
  readonly name: string;
  /** `queued` until its turn, `failed` with a {@link Upload.fault}; see {@link Progress}. */
  readonly phase: Progress['phase'] | 'queued' | 'failed';
  /** Progress of the phase, 0 to 1; null if unknown. */
  readonly fraction: number | null;
  /** See {@link Progress}. */
  readonly reason: string | null;
  /** Why it failed; null if it has not. */
  readonly fault: string | null;
}

/** Everything a view shows about files. */
export interface FilesState {
  /** The current folder; null at the top level. */
  readonly folder: string | null;
  /** Folders and files in it. Null before the first response. */
  readonly files: readonly FileRecord[] | null;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly uploads: readonly Upload[];
  /** Why the last request failed; null if it did not. */
  readonly requestError: string | null;
}

/** The path that a setting uses for a file. */
export function pathOf(file: FileRecord): string {
  return file.folder ? `${file.folder}/${file.fileName}` : file.fileName;
}

const PAUSES_MS: Pauses = [500, 1000, 2000, 5000, 10_000, 30_000];
const PIECE_BYTES = 4 * 1024 * 1024;

/** The files of the account. */
export class FilesModel extends Store<FilesState> {
  /**
   * @param pausesMs - pauses of an upload after connection failures, in milliseconds
   * @param pieceBytes - size of the pieces of an upload, in bytes
   */
  constructor(source: FilesSource, pausesMs: Pauses = PAUSES_MS, pieceBytes = PIECE_BYTES) {
    super({ folder: null, files: null, hasMore: false, isLoading: false, uploads: [], requestError: null });
    this.source = source;
    this.pausesMs = pausesMs;
    this.pieceBytes = pieceBytes;
  }

  /** Requests the first page again. */
  refresh(): Promise<void> {
    return this.requestPage(0);
  }

  /** Opens a folder; null for the top level. A folder that does not exist yet is empty. */
  open(folder: string | null): Promise<void> {
    this.generation += 1;
    this.update({ folder, files: null, hasMore: false });
    return this.requestPage(0);
  }

  /** Requests the next page. */
  async loadMore(): Promise<void> {
    const { files, hasMore, isLoading } = this.state();
    if (hasMore && !isLoading) {
      await this.requestPage(files?.length ?? 0);
    }
  }

  /** Uploads files of the user's computer to the current folder, one after another. */
  async upload(files: readonly File[]): Promise<void> {
    const { folder } = this.state();
    await this.runUploads(files.map(file => this.enqueue(file.name, fileUpload => fileUpload.send(file, folder))));
  }

  /** Uploads files of JupyterLab's file browser to the current folder. */
  async uploadContents(paths: readonly string[]): Promise<void> {
    const { folder } = this.state();
    const source = this.source.withFixedProfile();
    const send = (path: string) => async (fileUpload: FileUpload) =>
      fileUpload.forward(await source.uploadContents(path, folder));
    await this.runUploads(paths.map(path => this.enqueue(path.split('/').at(-1) ?? path, send(path))));
  }

  /** Retries a failed upload, or at once one that is waiting for the connection. */
  async retry(id: number): Promise<void> {
    const upload = this.state().uploads.find(item => item.id === id);
    if (upload?.phase === 'failed') {
      await this.runUploads([id]);
    } else {
      this.tasks.get(id)?.fileUpload.retryNow();
    }
  }

  /** Cancels an upload, or dismisses a failed one. */
  dismiss(id: number): void {
    this.tasks.get(id)?.fileUpload.cancel();
    this.removeUpload(id);
  }

  /** Deletes a file of the account. */
  delete(path: string): Promise<void> {
    return this.deleteWith(path, () => this.source.deleteFile(path));
  }

  /** Deletes a folder of the account with every file in it. */
  deleteFolder(path: string): Promise<void> {
    return this.deleteWith(path, () => this.source.deleteFolder(path));
  }

  /** Deletes with `request`, and removes `path` from the list. */
  private async deleteWith(path: string, request: () => Promise<void>): Promise<void> {
    try {
      await request();
      const files = this.state().files?.filter(file => pathOf(file) !== path) ?? null;
      this.update({ files, requestError: null });
    } catch (error) {
      this.update({ requestError: messageOf(error) });
    }
  }

  /** Resets the state after switching to another service. */
  reset(): void {
    this.generation += 1;
    this.update({ folder: null, files: null, hasMore: false, isLoading: false, requestError: null });
  }

  /** Requests the page of the list that begins at `offset`; the first one replaces the list. */
  private async requestPage(offset: number): Promise<void> {
    const { generation } = this;
    let change: Partial<FilesState>;
    this.update({ isLoading: true });
    try {
      const { files, hasMore } = await this.source.files(this.state().folder, offset);
      const before = offset === 0 ? [] : (this.state().files ?? []);
      change = { files: [...before, ...files], hasMore, requestError: null };
    } catch (error) {
      change = { requestError: messageOf(error) };
    }
    if (generation === this.generation) {
      this.update({ ...change, isLoading: false });
    }
  }

  /** Adds an upload to the list without starting it; returns its id. */
  private enqueue(name: string, send: UploadTask['send']): number {
    const id = (this.lastId += 1);
    const onProgress = (progress: Progress): void => this.updateUpload(id, progress);
    const fileUpload = new FileUpload(this.source.withFixedProfile(), onProgress, this.pausesMs, this.pieceBytes);
    this.tasks.set(id, { fileUpload, send });
    const upload: Upload = { id, name, phase: 'queued', fraction: null, reason: null, fault: null };
    this.update({ uploads: [...this.state().uploads, upload] });
    return id;
  }

  /** Runs uploads one after another; a finished one leaves the list, a failed one stays. */
  private async runUploads(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const task = this.tasks.get(id);
      if (task) {
        this.updateUpload(id, { phase: 'sending', fraction: null, reason: null, fault: null });
        try {
          await task.send(task.fileUpload);
          this.removeUpload(id);
        } catch (error) {
          this.updateUpload(id, { phase: 'failed', fault: messageOf(error) });
        }
      }
    }
    await this.refresh();
  }

  private removeUpload(id: number): void {
    this.tasks.delete(id);
    this.update({ uploads: this.state().uploads.filter(upload => upload.id !== id) });
  }

  private updateUpload(id: number, change: Partial<Upload>): void {
    const uploads = this.state().uploads.map(item => (item.id === id ? { ...item, ...change } : item));
    this.update({ uploads });
  }

  private readonly source: FilesSource;
  private readonly pausesMs: Pauses;
  private readonly pieceBytes: number;
  private readonly tasks = new Map<number, UploadTask>();
  private lastId = 0;
  /** Incremented when a folder is opened or another service selected, so that late responses are ignored. */
  private generation = 0;
}

/** An upload and the function that runs it; a retry runs it again. */
interface UploadTask {
  readonly fileUpload: FileUpload;
  readonly send: (fileUpload: FileUpload) => Promise<void>;
}
