/** Lazy loading of the style sheets: JupyterLab starts without them, and the first view waits for them. */
let isSettled = false;
let loading: Promise<void> | null = null;

/** Whether views need not wait: the style sheets are loaded, or could not be loaded. */
export function areStylesSettled(): boolean {
  return isSettled;
}

/** Load the style sheets once. Never rejects, since an unstyled view is better than none; after a failure the next call retries. */
export function loadStyles(): Promise<void> {
  loading ??= import('../style/index.js')
    .catch((reason: unknown) => {
      console.warn('foldnote: the style sheets could not be loaded.', reason);
      loading = null;
    })
    .then(() => {
      isSettled = true;
    });
  return loading;
}
