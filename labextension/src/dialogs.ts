/** Dialogs and notices that several plugins and panels show. */
import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';

import { messageOf } from './models/formatting/text';

/** Asks for confirmation; the accept button is a warning button by default. */
export async function confirmAction(
  title: string,
  body: string | Widget,
  acceptLabel: string,
  cancelLabel: string,
  acceptButton = Dialog.warnButton
): Promise<boolean> {
  const buttons = [Dialog.cancelButton({ label: cancelLabel }), acceptButton({ label: acceptLabel })];
  return (await showDialog({ title, body, buttons, defaultButton: 0 })).button.accept;
}

/** Returns the result, or null after showing the error. */
export async function notifyOnError<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    Notification.error(messageOf(error), { autoClose: 8000 });
    return null;
  }
}
