/** Base class of panels that poll only while visible, and are rendered when they first become visible. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { MessageLoop, type Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { areStylesSettled, loadStyles } from '../styles';

/** A panel that is told when it becomes visible and when it is hidden. */
export abstract class VisibilityWidget extends ReactWidget {
  /** Called when it becomes visible; may be called again while visible. */
  protected abstract watch(): void;
  /** Called when it is hidden or closed. */
  protected abstract unwatch(): void;

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void loadStyles(); // retries after a failure
    MessageLoop.sendMessage(this, Widget.Msg.UpdateRequest);
    this.watch();
  }

  /** Renders it only once it is visible, which makes JupyterLab start faster. */
  protected override onUpdateRequest(message: Message): void {
    if (!this.isVisible) {
      return;
    }
    if (areStylesSettled()) {
      super.onUpdateRequest(message);
    } else {
      void loadStyles().then(() => this.update());
    }
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
