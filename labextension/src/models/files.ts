/** The account's files as the page knows them, and what is being sent there. */
import type { FileRecord, FilesAnswer } from '../api/answers';
import { Store } from './store';

/** Where files come from and go to. */
export interface FilesSource {
  files(offset: number): Promise<FilesAnswer>;
  upload(file: File, onProgress: (fraction: number) => void, signal: AbortSignal): Promise<void>;
  uploadContents(path: string): Promise<void>;
  deleteFile(path: string): Promise<void>;
}

/** A file on its way. */
export interface Upload {
  readonly id: number;
  readonly name: string;
  /** Share that left this computer, 0 to 1; null when that is not known. */
  readonly fraction: number | null;
  /** Why it failed; null while it is under way. */
  readonly fault: string | null;
}

/** Everything a view shows about files. */
export interface FilesState {
  /** Null before the first answer. */
  readonly files: readonly FileRecord[] | null;
  readonly hasMore: boolean;
  readonly isAsking: boolean;
  readonly uploads: readonly Upload[];
  /** Why the last question or wish failed; null when it did not. */
  readonly complaint: string | null;
}

/** The path by which a setting names a file. */
export function pathOf(file: FileRecord): string {
  return file.folder ? `${file.folder}/${file.fileName}` : file.fileName;
}

/** The files of the account. */
export class FilesModel extends Store<FilesState> {
  constructor(source: FilesSource) {
    super({ files: null, hasMore: false, isAsking: false, uploads: [], complaint: null });
    this.source = source;
  }

  /** Asks for the first page again. */
  refresh(): Promise<void> {
    return this.ask(0);
  }

  /** Asks for the next page. */
  async loadMore(): Promise<void> {
    const { files, hasMore, isAsking } = this.state();
    if (hasMore && !isAsking) {
      await this.ask(files?.length ?? 0);
    }
  }

  /** Sends files of the reader's computer, one after the other. */
  async upload(files: readonly File[]): Promise<void> {
    const waiting = files.map(file => ({ file, id: this.begin(file.name, 0) }));
    for (const { file, id } of waiting) {
      const control = this.controls.get(id);
      if (control && !control.signal.aborted) {
        const onProgress = (fraction: number): void => this.change(id, { fraction });
        await this.finish(id, this.source.upload(file, onProgress, control.signal));
      }
    }
    await this.refresh();
  }

  /** Sends files of JupyterLab's file browser. */
  async uploadContents(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const id = this.begin(path.split('/').at(-1) ?? path, null);
      await this.finish(id, this.source.uploadContents(path));
    }
    await this.refresh();
  }

  /** Gives an upload up, or forgets one that failed. */
  dismiss(id: number): void {
    this.controls.get(id)?.abort();
    this.controls.delete(id);
    this.update({ uploads: this.state().uploads.filter(upload => upload.id !== id) });
  }

  /** Deletes a file of the account. */
  async delete(path: string): Promise<void> {
    try {
      await this.source.deleteFile(path);
      const files = this.state().files?.filter(file => pathOf(file) !== path) ?? null;
      this.update({ files, complaint: null });
    } catch (error) {
      this.update({ complaint: sentence(error) });
    }
  }

  /** Forgets everything: another service is meant from now on. */
  reset(): void {
    this.update({ files: null, hasMore: false, complaint: null });
  }

  private async ask(offset: number): Promise<void> {
    this.update({ isAsking: true });
    try {
      const page = await this.source.files(offset);
      const before = offset === 0 ? [] : (this.state().files ?? []);
      this.update({ files: [...before, ...page.files], hasMore: page.hasMore, complaint: null });
    } catch (error) {
      this.update({ complaint: sentence(error) });
    } finally {
      this.update({ isAsking: false });
    }
  }

  private begin(name: string, fraction: number | null): number {
    this.lastId += 1;
    this.controls.set(this.lastId, new AbortController());
    const upload: Upload = { id: this.lastId, name, fraction, fault: null };
    this.update({ uploads: [...this.state().uploads, upload] });
    return this.lastId;
  }

  private async finish(id: number, work: Promise<void>): Promise<void> {
    try {
      await work;
      this.dismiss(id);
    } catch (error) {
      this.change(id, { fault: sentence(error) });
    }
  }

  private change(id: number, change: Partial<Upload>): void {
    const uploads = this.state().uploads.map(each => (each.id === id ? { ...each, ...change } : each));
    this.update({ uploads });
  }

  private readonly source: FilesSource;
  private readonly controls = new Map<number, AbortController>();
  private lastId = 0;
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
