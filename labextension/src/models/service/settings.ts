/** The extension's settings, independent of their storage. */
import { Store } from '../store';

/** Initial colourings of structures; if one does not apply to a structure, its default is used. */
export const COLORINGS = [
  'automatic',
  'confidence',
  'chain',
  'rainbow',
  'secondary',
  'hydrophobicity',
  'b-factor'
] as const;

/** The extension's settings. */
export interface Settings {
  readonly hasNotifications: boolean;
  /** Whether to show browser notifications while the page is hidden. */
  readonly hasBrowserNotifications: boolean;
  /** Name of the profile that the views show; null for the one that notebooks use. */
  readonly profile: string | null;
  /** Minimum seconds between two requests to the service; 0 for the default rate. */
  readonly pollSeconds: number;
  /** How long a deletion can be undone. */
  readonly undoSeconds: number;
  readonly colors: (typeof COLORINGS)[number];
}

/** The default settings. */
export const DEFAULT_SETTINGS: Settings = {
  hasNotifications: true,
  hasBrowserNotifications: false,
  profile: null,
  pollSeconds: 0,
  undoSeconds: 8,
  colors: 'automatic'
};

/** The settings. */
export class SettingsModel extends Store<Settings> {
  constructor() {
    super(DEFAULT_SETTINGS);
  }

  /** Replaces the settings. */
  replace(settings: Settings): void {
    this.update(settings);
  }
}
