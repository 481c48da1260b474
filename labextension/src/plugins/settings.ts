/** Reads the extension's settings from JupyterLab's settings editor. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { COLORINGS, STANDARD, type Settings, type SettingsModel } from '../models/settings';

/** The settings use the id of this plugin. */
export const SETTINGS = 'foldnote:plugin';

/** Updates the model from the settings, now and at every change. */
export async function followSettings(registry: ISettingRegistry | null, model: SettingsModel): Promise<void> {
  try {
    const settings = await registry?.load(SETTINGS);
    const read = (): void => model.take(readSettings(settings?.composite ?? {}));
    settings?.changed.connect(read);
    read();
  } catch (error) {
    console.warn('The settings of foldnote cannot be read; the defaults are used.', error);
    model.take(STANDARD);
  }
}

/** The settings, with defaults for missing and invalid values. */
export function readSettings(given: ReadonlyPartialJSONObject): Settings {
  const seconds = (value: unknown, standard: number): number =>
    typeof value === 'number' && value >= 0 ? value : standard;
  return {
    hasNotifications: given.notifications !== false,
    hasBrowserNotifications: given.browserNotifications === true,
    profile: typeof given.profile === 'string' && given.profile !== '' ? given.profile : null,
    pollSeconds: seconds(given.pollSeconds, STANDARD.pollSeconds),
    undoSeconds: seconds(given.undoSeconds, STANDARD.undoSeconds),
    colors: COLORINGS.find(name => name === given.colors) ?? STANDARD.colors
  };
}
