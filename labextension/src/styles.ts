/** Lazy loading of the style sheets: JupyterLab starts without them, and the first view waits for them. */
let areLoaded = false;
let loading: Promise<void> | null = null;

/** Whether the style sheets are loaded. */
export function hasStyles(): boolean {
  return areLoaded;
}

/** Load the style sheets once. Never rejects: an unstyled view is better than none. */
export function loadStyles(): Promise<void> {
  loading ??= import('../style/index.js')
    .catch((reason: unknown) => console.warn('foldnote: the style sheets could not be loaded.', reason))
    .then(() => {
      areLoaded = true;
    });
  return loading;
}
