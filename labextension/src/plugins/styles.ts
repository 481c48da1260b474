/**
 * Loads the style sheets after JupyterLab's start, for elements outside of views: dialogs, notices, a status bar item.
 */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { loadStyles } from '../styles';

/** The style sheets. */
export const stylesPlugin: JupyterFrontEndPlugin<void> = {
  id: 'foldnote:styles',
  description: 'Loads the style sheets of foldnote.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    void app.restored.then(loadStyles);
  }
};
