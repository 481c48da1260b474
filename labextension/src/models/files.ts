/** The account's files and the current uploads. */
import type { FileRecord, FilesResponse, UploadResponse } from '../api/responses';
import { Store } from './store';
import { sentenceOf } from './text';
import { Sending, type Pauses, type Progress, type UploadSource } from './uploads';

/** The server routes for files. */
export interface FilesSource extends UploadSource {
  /** This source, bound to the currently selected service. */
  fixed(): FilesSource;
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
  /** Folders and files in it. Null before the first answer. */
  readonly files: readonly FileRecord[] | null;
  readonly hasMore: boolean;
  readonly isAsking: boolean;
  readonly uploads: readonly Upload[];
  /** Why the last request failed; null if it did not. */
  readonly complaint: string | null;
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
    super({ folder: null, files: null, hasMore: false, isAsking: false, uploads: [], complaint: null });
    this.source = source;
    this.pausesMs = pausesMs;
    this.pieceBytes = pieceBytes;
  }

  /** Requests the first page again. */
  refresh(): Promise<void> {
    return this.ask(0);
  }

  /** Opens a folder; null for the top level. A folder that does not exist yet is empty. */
  open(folder: string | null): Promise<void> {
    this.turn += 1;
    this.update({ folder, files: null, hasMore: false });
    return this.ask(0);
  }

  /** Requests the next page. */
  async loadMore(): Promise<void> {
    const { files, hasMore, isAsking } = this.state();
    if (hasMore && !isAsking) {
      await this.ask(files?.length ?? 0);
    }
  }

  /** Uploads files of the user's computer to the current folder, one after another. */
  async upload(files: readonly File[]): Promise<void> {
    const { folder } = this.state();
    await this.work(files.map(file => this.add(file.name, sending => sending.send(file, folder))));
  }

  /** Uploads files of JupyterLab's file browser to the current folder. */
  async uploadContents(paths: readonly string[]): Promise<void> {
    const { folder } = this.state();
    const source = this.source.fixed();
    const send = (path: string) => async (sending: Sending) => sending.pass(await source.uploadContents(path, folder));
    await this.work(paths.map(path => this.add(path.split('/').at(-1) ?? path, send(path))));
  }

  /** Retries a failed upload, or at once one that is waiting for the connection. */
  async retry(id: number): Promise<void> {
    const upload = this.state().uploads.find(each => each.id === id);
    if (upload?.phase === 'failed') {
      await this.work([id]);
    } else {
      this.tasks.get(id)?.sending.hurry();
    }
  }

  /** Cancels an upload, or dismisses a failed one. */
  dismiss(id: number): void {
    this.tasks.get(id)?.sending.drop();
    this.forget(id);
  }

  /** Deletes a file of the account. */
  delete(path: string): Promise<void> {
    return this.deleteBy(path, () => this.source.deleteFile(path));
  }

  /** Deletes a folder of the account with every file in it. */
  deleteFolder(path: string): Promise<void> {
    return this.deleteBy(path, () => this.source.deleteFolder(path));
  }

  private async deleteBy(path: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
      const files = this.state().files?.filter(file => pathOf(file) !== path) ?? null;
      this.update({ files, complaint: null });
    } catch (error) {
      this.update({ complaint: sentenceOf(error) });
    }
  }

  /** Resets the state after switching to another service. */
  reset(): void {
    this.turn += 1;
    this.update({ folder: null, files: null, hasMore: false, isAsking: false, complaint: null });
  }

  private async ask(offset: number): Promise<void> {
    const { turn } = this;
    let change: Partial<FilesState>;
    this.update({ isAsking: true });
    try {
      const { files, hasMore } = await this.source.files(this.state().folder, offset);
      const before = offset === 0 ? [] : (this.state().files ?? []);
      change = { files: [...before, ...files], hasMore, complaint: null };
    } catch (error) {
      change = { complaint: sentenceOf(error) };
    }
    if (turn === this.turn) {
      this.update({ ...change, isAsking: false });
    }
  }

  private add(name: string, send: UploadTask['send']): number {
    const id = (this.lastId += 1);
    const onProgress = (progress: Progress): void => this.change(id, progress);
    const sending = new Sending(this.source.fixed(), onProgress, this.pausesMs, this.pieceBytes);
    this.tasks.set(id, { sending, send });
    const upload: Upload = { id, name, phase: 'queued', fraction: null, reason: null, fault: null };
    this.update({ uploads: [...this.state().uploads, upload] });
    return id;
  }

  private async work(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const task = this.tasks.get(id);
      if (task) {
        this.change(id, { phase: 'sending', fraction: null, reason: null, fault: null });
        try {
          await task.send(task.sending);
          this.forget(id);
        } catch (error) {
          this.change(id, { phase: 'failed', fault: sentenceOf(error) });
        }
      }
    }
    await this.refresh();
  }

  private forget(id: number): void {
    this.tasks.delete(id);
    this.update({ uploads: this.state().uploads.filter(upload => upload.id !== id) });
  }

  private change(id: number, change: Partial<Upload>): void {
    const uploads = this.state().uploads.map(each => (each.id === id ? { ...each, ...change } : each));
    this.update({ uploads });
  }

  private readonly source: FilesSource;
  private readonly pausesMs: Pauses;
  private readonly pieceBytes: number;
  private readonly tasks = new Map<number, UploadTask>();
  private lastId = 0;
  /** Incremented when a folder is opened or another service selected, to ignore late answers. */
  private turn = 0;
}

/** A function that uploads a file. */
interface UploadTask {
  readonly sending: Sending;
  readonly send: (sending: Sending) => Promise<void>;
}
