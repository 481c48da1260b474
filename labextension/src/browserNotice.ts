/**
 * The browser's own notifications, shown while JupyterLab's page is hidden or another window is in front. Permission is
 * requested only after a user's click.
 */

/** Permission to show notifications; `missing` if unsupported, as on pages without HTTPS. */
export type NotificationPermission = 'granted' | 'denied' | 'default' | 'missing';

/** The current permission. */
export function readPermission(): NotificationPermission {
  return 'Notification' in window ? window.Notification.permission : 'missing';
}

/** Makes the browser ask the user for permission; call it only from a click handler. */
export async function requestPermission(): Promise<NotificationPermission> {
  return 'Notification' in window ? window.Notification.requestPermission() : 'missing';
}

/** Whether the page is hidden or another window is in front. */
export function isAway(): boolean {
  return document.hidden || !document.hasFocus();
}

/**
 * Shows a browser notification.
 *
 * @param text - the message
 * @param key - a later notification with the same key replaces it, also from another page
 * @param onClick - called after the page was brought to the front
 */
export function showNotice(text: string, key: string, onClick: () => void): void {
  try {
    const notice = new window.Notification(text, { tag: `foldnote ${key}` });
    notice.onclick = () => {
      window.focus();
      notice.close();
      onClick();
    };
  } catch {
    // mobile browsers have the class but cannot construct it; JupyterLab's own notification is shown
  }
}
