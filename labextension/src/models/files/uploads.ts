/**
 * Upload of one file: in pieces to the Jupyter server, resumed after a lost connection, and from there to the service.
 */
import type { UploadResponse } from '../../api/responses';
import { statusOf } from '../formatting/text';

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
  /** Passes the file on to the service; must be called until the response has a path. */
  finishUpload(id: string): Promise<UploadResponse>;
  cancelUpload(id: string): Promise<void>;
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
export class FileUpload {
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
  cancel(): void {
    this.abortController.abort();
    this.retryNow();
    if (this.id !== null) {
      void this.source.cancelUpload(this.id).catch(() => undefined); // the server eventually discards it
    }
  }

  /** Retries at once instead of waiting for the connection. */
  retryNow(): void {
    this.endPause();
  }

  /**
   * Uploads the file. After a lost connection it retries without a time limit.
   *
   * @throws Error if the Jupyter server or the service refuses it; another call resumes where this one failed
   */
  async send(file: File, folder: string | null): Promise<void> {
    const begin = (): Promise<UploadResponse> => this.source.beginUpload(file, folder);
    for (;;) {
      const started = await this.retryWhileDisconnected(begin);
      try {
        await this.forward(await this.sendRest(file, started, begin));
        return;
      } catch (error) {
        if (statusOf(error) !== NOT_FOUND || this.isCancelled()) {
          throw error;
        }
        this.restartReason = 'Jupyter was restarted and lost the upload, so the file is being sent again.';
      }
    }
  }

  /** Waits until the complete file has been passed on to the service. */
  async forward(upload: UploadResponse): Promise<void> {
    this.noteId(upload.id);
    let current = upload;
    while (current.path === null && !this.isCancelled()) {
      const fraction = current.sentBytes ? current.sentBytes / current.sizeBytes : null;
      const reason = current.waiting ?? null;
      this.onProgress({ phase: 'passing', fraction, reason });
      current = await this.retryWhileDisconnected(() => this.source.finishUpload(upload.id));
    }
  }

  /** Sends the pieces that the server does not have; `recover` asks for their number after a lost connection. */
  private async sendRest(
    file: File,
    started: UploadResponse,
    recover: () => Promise<UploadResponse>
  ): Promise<UploadResponse> {
    let current = started;
    this.noteId(current.id);
    while (current.receivedBytes < file.size && !this.isCancelled()) {
      const { id, receivedBytes: offset } = current;
      const piece = file.slice(offset, offset + this.pieceBytes);
      const report = (bytes: number): void =>
        this.onProgress({ phase: 'sending', fraction: (offset + bytes) / file.size, reason: this.restartReason });
      report(0);
      current = await this.retryWhileDisconnected(
        () => this.source.sendPiece(id, offset, piece, report, this.abortController.signal),
        recover
      );
      this.noteId(current.id);
    }
    return current;
  }

  /** Notes the server's id of the upload, and cancels it there if the user did so before the id was known. */
  private noteId(id: string): void {
    if (id !== this.id) {
      this.id = id;
      if (this.isCancelled()) {
        this.cancel();
      }
    }
  }

  /** Repeats a request while the connection is lost; `recover` determines what has arrived. */
  private async retryWhileDisconnected(
    request: () => Promise<UploadResponse>,
    recover: () => Promise<UploadResponse> = request
  ): Promise<UploadResponse> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await (failures === 0 ? request() : recover());
      } catch (error) {
        if (this.isCancelled() || !CONNECTION_LOST.includes(statusOf(error))) {
          throw error;
        }
        this.onProgress({ phase: 'waiting', fraction: null, reason: null });
        await this.pause(this.pausesMs[Math.min(failures, this.pausesMs.length - 1)] ?? 0);
        if (this.isCancelled()) {
          throw error;
        }
      }
    }
  }

  private isCancelled(): boolean {
    return this.abortController.signal.aborted;
  }

  private pause(lengthMs: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, lengthMs);
      this.endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private readonly abortController = new AbortController();
  private id: string | null = null;
  /** Why the file is sent again from the start; null if it is not. */
  private restartReason: string | null = null;
  /** Ends the current pause. */
  private endPause: () => void = () => undefined;
}

/** Statuses of a lost connection: no response, or a proxy's response while the Jupyter server restarts. */
const CONNECTION_LOST: readonly unknown[] = [0, 424, 503, 504];

/** Status for an upload that the server no longer has, after a restart or a long pause. */
const NOT_FOUND = 404;
