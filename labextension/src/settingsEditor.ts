/** Reads the extension's settings from JupyterLab's settings editor. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { COLORINGS, DEFAULT_SETTINGS, type Settings, type SettingsModel } from './models/service/settings';

/** The settings use the id of this plugin. */
export const SETTINGS = 'foldnote:plugin';

/** Updates the model from the settings, now and at every change. */
export async function followSettings(registry: ISettingRegistry | null, model: SettingsModel): Promise<void> {
  try {
    const settings = await registry?.load(SETTINGS);
    const update = (): void => model.replace(readSettings(settings?.composite ?? {}));
    settings?.changed.connect(update);
    update();
  } catch (error) {
    console.warn('The settings of foldnote cannot be read; the defaults are used.', error);
    model.replace(DEFAULT_SETTINGS);
  }
}

/** The settings, with defaults for missing and invalid values. */
export function readSettings(values: ReadonlyPartialJSONObject): Settings {
  const seconds = (value: unknown, fallback: number): number =>
    typeof value === 'number' && value >= 0 ? value : fallback;
  return {
    hasNotifications: values.notifications !== false,
    hasBrowserNotifications: values.browserNotifications === true,
    profile: typeof values.profile === 'string' && values.profile !== '' ? values.profile : null,
    pollSeconds: seconds(values.pollSeconds, DEFAULT_SETTINGS.pollSeconds),
    undoSeconds: seconds(values.undoSeconds, DEFAULT_SETTINGS.undoSeconds),
    colors: COLORINGS.find(name => name === values.colors) ?? DEFAULT_SETTINGS.colors
  };
}
