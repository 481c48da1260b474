/**
 * Counts events that happened while the page was not in focus, and shows the count before the title of the browser's tab,
 * until the page gets the focus. When JupyterLab changes the title, the count is added again.
 */
import { isAway } from './browserNotice';

/** The count before the title. */
export class TitleCount {
  /** Increases the count, unless the page is in focus. */
  add(count: number): void {
    if (count === 0 || !isAway()) {
      return;
    }
    if (this.count === 0) {
      this.base = document.title;
      this.observer.observe(document.head, { childList: true, characterData: true, subtree: true });
      this.toggleListeners('addEventListener');
    }
    this.count += count;
    document.title = this.titleWithCount();
  }

  /** Restores the title without a count. */
  clear(): void {
    if (this.count > 0) {
      this.updateTitle();
      this.observer.disconnect();
      this.toggleListeners('removeEventListener');
      this.count = 0;
      document.title = this.base;
    }
  }

  private readonly clearIfFocused = (): void => {
    if (!isAway()) {
      this.clear();
    }
  };

  /** Adds the count to a title that was set elsewhere. */
  private readonly updateTitle = (): void => {
    const title = document.title;
    if (title !== this.titleWithCount()) {
      const prefix = this.prefix();
      this.base = title.startsWith(prefix) ? title.slice(prefix.length) : title;
      document.title = this.titleWithCount();
    }
  };

  private prefix(): string {
    return `(${this.count}) `;
  }

  /** The title as displayed: browsers trim it. */
  private titleWithCount(): string {
    return `${this.prefix()}${this.base}`.trim();
  }

  /** When a frame of the page gets the focus, the page is notified only at the next key or mouse press. */
  private toggleListeners(method: 'addEventListener' | 'removeEventListener'): void {
    for (const type of ['focus', 'pointerdown', 'keydown']) {
      window[method](type, this.clearIfFocused, true);
    }
    document[method]('visibilitychange', this.clearIfFocused);
  }

  private readonly observer = new MutationObserver(this.updateTitle);
  private count = 0;
  private base = '';
}
