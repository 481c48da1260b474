/** What JupyterLab's settings editor says to the extension. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';

/** The settings go by the name of this plugin. */
export const SETTINGS = 'foldnote:plugin';

/** The extension's settings. */
export interface Settings {
  readonly hasNotifications: boolean;
  /** Name of the profile that the views are about; null for the one that notebooks use. */
  readonly profile: string | null;
}

const STANDARD: Settings = { hasNotifications: true, profile: null };

/** Calls `apply` with the settings, now and whenever they change. */
export async function followSettings(
  registry: ISettingRegistry | null,
  apply: (settings: Settings) => void
): Promise<void> {
  try {
    const settings = await registry?.load(SETTINGS);
    const read = (): void => {
      const profile = settings?.composite.profile;
      apply({
        hasNotifications: settings?.composite.notifications !== false,
        profile: typeof profile === 'string' && profile !== '' ? profile : null
      });
    };
    settings?.changed.connect(read);
    read();
  } catch (error) {
    console.warn('The settings of foldnote cannot be read; the standard ones hold.', error);
    apply(STANDARD);
  }
}
