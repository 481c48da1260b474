/**
 * Sending one file: piece by piece to the Jupyter server, which goes on where a broken connection left it, and from there
 * to the service.
 */
import type { UploadAnswer } from '../api/answers';

/** The server's side of an upload. */
export interface UploadSource {
  /** Begins an upload, or finds the one of the same file that was broken off. */
  beginUpload(file: File, folder: string | null): Promise<UploadAnswer>;
  sendPiece(
    id: string,
    offset: number,
    piece: Blob,
    onProgress: (bytes: number) => void,
    signal: AbortSignal
  ): Promise<UploadAnswer>;
  /** Has the whole passed on; asked until the answer has a path. */
  finishUpload(id: string): Promise<UploadAnswer>;
  dropUpload(id: string): Promise<void>;
}

/** How far a file is. */
export interface Progress {
  /** `sending` to the Jupyter server, `passing` on to the service, `waiting` for a connection. */
  readonly phase: 'sending' | 'passing' | 'waiting';
  /** Share of the phase, 0 to 1; null when that is not known. */
  readonly fraction: number | null;
  /** Why the service is waited for, or why it is sent anew; null where neither is. */
  readonly reason: string | null;
}

/** How long to wait after each failure, in milliseconds; the last one is repeated. */
export type Pauses = readonly number[];

/** One file on its way. */
export class Sending {
  /**
   * @param onProgress - told how far it is
   * @param pausesMs - how long to wait after the first, second … failure in a row
   */
  constructor(
    private readonly source: UploadSource,
    private readonly onProgress: (progress: Progress) => void,
    private readonly pausesMs: Pauses,
    private readonly pieceBytes: number
  ) {}

  /** Gives it up, also at the server. */
  drop(): void {
    this.control.abort();
    this.hurry();
    if (this.id !== null) {
      void this.source.dropUpload(this.id).catch(() => undefined); // the server forgets it by itself
    }
  }

  /** Waits no longer for the connection. */
  hurry(): void {
    this.wake();
  }

  /**
   * Sends the file and has it passed on. A connection that breaks is waited for, as long as it takes.
   *
   * @throws Error when somebody refuses it; another call goes on where this one was
   */
  async send(file: File, folder: string | null): Promise<void> {
    const begin = (): Promise<UploadAnswer> => this.source.beginUpload(file, folder);
    for (;;) {
      const begun = await this.persist(begin);
      try {
        await this.pass(await this.sendRest(file, begun, begin));
        return;
      } catch (error) {
        if (statusOf(error) !== FORGOTTEN || this.isDropped()) {
          throw error;
        }
        this.news = 'Jupyter was started again and has lost what came of it, so that it is sent once more.';
      }
    }
  }

  /** Waits until the service has what the Jupyter server holds as a whole. */
  async pass(upload: UploadAnswer): Promise<void> {
    this.id = upload.id;
    let now = upload;
    while (now.path === null && !this.isDropped()) {
      const fraction = now.sentBytes ? now.sentBytes / now.sizeBytes : null;
      const reason = now.waiting ?? null;
      this.onProgress({ phase: 'passing', fraction, reason });
      now = await this.persist(() => this.source.finishUpload(upload.id));
    }
  }

  private async sendRest(file: File, begun: UploadAnswer, recover: () => Promise<UploadAnswer>): Promise<UploadAnswer> {
    let now = begun;
    while (now.receivedBytes < file.size) {
      const { id, receivedBytes: offset } = now;
      this.id = id;
      const piece = file.slice(offset, offset + this.pieceBytes);
      const tell = (bytes: number): void =>
        this.onProgress({ phase: 'sending', fraction: (offset + bytes) / file.size, reason: this.news });
      tell(0);
      now = await this.persist(() => this.source.sendPiece(id, offset, piece, tell, this.control.signal), recover);
    }
    return now;
  }

  /** The answer, asked for again while the connection is broken; `recover` finds out what arrived. */
  private async persist(
    ask: () => Promise<UploadAnswer>,
    recover: () => Promise<UploadAnswer> = ask
  ): Promise<UploadAnswer> {
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

/** Nobody answered, or a proxy in the place of a Jupyter server that is started again. */
const LOST: readonly unknown[] = [0, 424, 503, 504];

/** The server was restarted without what it had, or was not asked for so long that it forgot the upload. */
const FORGOTTEN = 404;

function statusOf(error: unknown): unknown {
  return error instanceof Error && 'status' in error ? error.status : undefined;
}
