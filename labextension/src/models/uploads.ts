/**
 * Upload of one file: in pieces to the Jupyter server, resumed after a lost connection, and from there to the service.
 */
import type { UploadResponse } from '../api/responses';
import { statusOf } from './text';

/** The server's side of an upload. */
export interface UploadSource {
  /** Begins an upload, or finds an interrupted one of the same file. */
  beginUpload(file: File, folder: string | null): Promise<UploadResponse>;
  sendPiece(
    id: string,
    offset: number,
    piece: Blob,
    onProgress: (bytes: number) => void,
    signal: AbortSignal
  ): Promise<UploadResponse>;
  /** Passes the file on to the service; called until the answer has a path. */
  finishUpload(id: string): Promise<UploadResponse>;
  dropUpload(id: string): Promise<void>;
}

/** Progress of an upload. */
export interface Progress {
  /** `sending` to the Jupyter server, `passing` on to the service, `waiting` for a connection. */
  readonly phase: 'sending' | 'passing' | 'waiting';
  /** Progress of the phase, 0 to 1; null if unknown. */
  readonly fraction: number | null;
  /** Why it waits for the service or is sent again; null otherwise. */
  readonly reason: string | null;
}

/** Pause after each failure in milliseconds; the last one is repeated. */
export type Pauses = readonly number[];

/** The upload of one file. */
export class Sending {
  /**
   * @param onProgress - called with the progress
   * @param pausesMs - pauses after the first, second … consecutive failure, in milliseconds
   */
  constructor(
    private readonly source: UploadSource,
    private readonly onProgress: (progress: Progress) => void,
    private readonly pausesMs: Pauses,
    private readonly pieceBytes: number
  ) {}

  /** Cancels the upload, also at the server. */
  drop(): void {
    this.control.abort();
    this.hurry();
    if (this.id !== null) {
      void this.source.dropUpload(this.id).catch(() => undefined); // the server eventually discards it
    }
  }

  /** Retries at once instead of waiting for the connection. */
  hurry(): void {
    this.wake();
  }

  /**
   * Uploads the file. After a lost connection it retries without a time limit.
   *
   * @throws Error if the Jupyter server or the service refuses it; another call resumes where this one failed
   */
  async send(file: File, folder: string | null): Promise<void> {
    const begin = (): Promise<UploadResponse> => this.source.beginUpload(file, folder);
    for (;;) {
      const begun = await this.persist(begin);
      try {
        await this.pass(await this.sendRest(file, begun, begin));
        return;
      } catch (error) {
        if (statusOf(error) !== NOT_FOUND || this.isDropped()) {
          throw error;
        }
        this.news = 'Jupyter was restarted and lost the upload, so the file is being sent again.';
      }
    }
  }

  /** Waits until the complete file has been passed on to the service. */
  async pass(upload: UploadResponse): Promise<void> {
    this.meet(upload.id);
    let now = upload;
    while (now.path === null && !this.isDropped()) {
      const fraction = now.sentBytes ? now.sentBytes / now.sizeBytes : null;
      const reason = now.waiting ?? null;
      this.onProgress({ phase: 'passing', fraction, reason });
      now = await this.persist(() => this.source.finishUpload(upload.id));
    }
  }

  private async sendRest(
    file: File,
    begun: UploadResponse,
    recover: () => Promise<UploadResponse>
  ): Promise<UploadResponse> {
    let now = begun;
    this.meet(now.id);
    while (now.receivedBytes < file.size && !this.isDropped()) {
      const { id, receivedBytes: offset } = now;
      const piece = file.slice(offset, offset + this.pieceBytes);
      const tell = (bytes: number): void =>
        this.onProgress({ phase: 'sending', fraction: (offset + bytes) / file.size, reason: this.news });
      tell(0);
      now = await this.persist(() => this.source.sendPiece(id, offset, piece, tell, this.control.signal), recover);
      this.meet(now.id);
    }
    return now;
  }

  /** Notes the server's id of the upload, and cancels it there if the user did so before the id was known. */
  private meet(id: string): void {
    if (id !== this.id) {
      this.id = id;
      if (this.isDropped()) {
        this.drop();
      }
    }
  }

  /** Repeats a request while the connection is lost; `recover` determines what has arrived. */
  private async persist(
    ask: () => Promise<UploadResponse>,
    recover: () => Promise<UploadResponse> = ask
  ): Promise<UploadResponse> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await (failures === 0 ? ask() : recover());
      } catch (error) {
        if (this.isDropped() || !LOST.includes(statusOf(error))) {
          throw error;
        }
        this.onProgress({ phase: 'waiting', fraction: null, reason: null });
        await this.pause(this.pausesMs[Math.min(failures, this.pausesMs.length - 1)] ?? 0);
        if (this.isDropped()) {
          throw error;
        }
      }
    }
  }

  private isDropped(): boolean {
    return this.control.signal.aborted;
  }

  private pause(lengthMs: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, lengthMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private readonly control = new AbortController();
  private id: string | null = null;
  private news: string | null = null;
  private wake: () => void = () => undefined;
}

/** Statuses of a lost connection: no response, or a proxy's response while the Jupyter server restarts. */
const LOST: readonly unknown[] = [0, 424, 503, 504];

/** Status for an upload that the server no longer has, after a restart or a long pause. */
const NOT_FOUND = 404;
