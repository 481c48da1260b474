/** A panel that polls only while visible. */
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';

/** Base class that tracks its visibility. */
export abstract class SeenWidget extends ReactWidget {
  /** Called when it becomes visible; may be called again while visible. */
  protected abstract watch(): void;
  /** Called when it is hidden or closed. */
  protected abstract unwatch(): void;

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.watch();
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      this.watch();
    }
  }

  protected override onBeforeHide(message: Message): void {
    this.unwatch();
    super.onBeforeHide(message);
  }

  protected override onBeforeDetach(message: Message): void {
    this.unwatch();
    super.onBeforeDetach(message);
  }
}
