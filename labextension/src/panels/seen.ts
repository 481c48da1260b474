/** A panel that asks for news only while somebody can see it. */
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';

/** Knows when it comes into sight and goes out of it. */
export abstract class SeenWidget extends ReactWidget {
  /** It came into sight; called again when it was in sight already. */
  protected abstract watch(): void;
  /** It goes out of sight, or is closed. */
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
