/** The extension: a list of plugins, each with one task. */
import { cardsPlugin } from './plugins/cards';
import { commandsPlugin } from './plugins/commands';
import { droppingPlugin } from './plugins/dropping';
import { fallbackPlugin } from './plugins/fallback';
import { jobsPlugin } from './plugins/jobs';
import { launcherPlugin } from './plugins/launcher';
import { menuPlugin } from './plugins/menu';
import { modelsPlugin } from './plugins/models';
import { nextCellPlugin } from './plugins/nextcell';
import { notificationsPlugin } from './plugins/notifications';
import { rowResultsPlugin } from './plugins/rowresults';
import { sidebarPlugin } from './plugins/sidebar';
import { statusPlugin } from './plugins/status';
import { structuresPlugin } from './plugins/structures';
import { stylesPlugin } from './plugins/styles';
import { viewer3dPlugin } from './plugins/viewer3d';

export default [
  viewer3dPlugin,
  fallbackPlugin,
  modelsPlugin,
  commandsPlugin,
  jobsPlugin,
  launcherPlugin,
  menuPlugin,
  droppingPlugin,
  sidebarPlugin,
  notificationsPlugin,
  statusPlugin,
  structuresPlugin,
  stylesPlugin,
  rowResultsPlugin,
  nextCellPlugin,
  cardsPlugin
];
