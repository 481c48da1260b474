/**
 * Counts before the title of the browser's tab what happened while nobody looked at the page; looking clears it. JupyterLab
 * changes the title whenever it likes: the count is put before the new one.
 */
import { isAway } from './browserNotice';

/** The count before the title. */
export class TitleCount {
  /** Counts so many more, unless somebody looks at the page. */
  add(count: number): void {
    if (count === 0 || !isAway()) {
      return;
    }
    if (this.count === 0) {
      this.base = document.title;
      this.observer.observe(document.head, { childList: true, characterData: true, subtree: true });
      this.listen('addEventListener');
    }
    this.count += count;
    document.title = this.shown();
  }

  /** Gives the title back as it would be without a count. */
  clear(): void {
    if (this.count > 0) {
      this.follow();
      this.observer.disconnect();
      this.listen('removeEventListener');
      this.count = 0;
      document.title = this.base;
    }
  }

  private readonly look = (): void => {
    if (!isAway()) {
      this.clear();
    }
  };

  /** Puts the count before a title that somebody else has set. */
  private readonly follow = (): void => {
    const title = document.title;
    if (title !== this.shown()) {
      const prefix = this.prefix();
      this.base = title.startsWith(prefix) ? title.slice(prefix.length) : title;
      document.title = this.shown();
    }
  };

  private prefix(): string {
    return `(${this.count}) `;
  }

  /** Browsers leave out the spaces at the ends of a title. */
  private shown(): string {
    return `${this.prefix()}${this.base}`.trim();
  }

  /** The focus may come back into a frame of the page, of which the page hears nothing before the next key or press. */
  private listen(how: 'addEventListener' | 'removeEventListener'): void {
    for (const type of ['focus', 'pointerdown', 'keydown']) {
      window[how](type, this.look, true);
    }
    document[how]('visibilitychange', this.look);
  }

  private readonly observer = new MutationObserver(this.follow);
  private count = 0;
  private base = '';
}
