/**
 * The browser's own notifications: seen while JupyterLab's page is hidden or another window is in front. The browser is asked
 * for leave only when a person pressed something.
 */

/** Whether the browser shows notifications of this page; `missing` where it has none, as on pages without HTTPS. */
export type Leave = 'granted' | 'denied' | 'default' | 'missing';

/** Whether the browser shows them now. */
export function readLeave(): Leave {
  return 'Notification' in window ? window.Notification.permission : 'missing';
}

/** Has the browser ask the person; call it from a click only. */
export async function askLeave(): Promise<Leave> {
  return 'Notification' in window ? window.Notification.requestPermission() : 'missing';
}

/** Whether the person cannot be looking at this page. */
export function isAway(): boolean {
  return document.hidden || !document.hasFocus();
}

/**
 * Shows a notification of the browser.
 *
 * @param text - what happened
 * @param key - a later one with the same key takes its place, also one of another page
 * @param onClick - called after the page came to the front
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
    // browsers of phones have the class and cannot make one; JupyterLab's own notification is there
  }
}
