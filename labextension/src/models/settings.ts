/** What a person has set; where it is set is not known here. */
import { Store } from './store';

/** Colours that views of structures may begin with; where a structure has no such colours, it shows its usual ones. */
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
  /** Whether the browser tells, too, while the page cannot be seen. */
  readonly hasBrowserNotifications: boolean;
  /** Name of the profile that the views are about; null for the one that notebooks use. */
  readonly profile: string | null;
  /** Least time between two questions to the service; 0 for as often as is useful. */
  readonly pollSeconds: number;
  /** How long a deletion can be undone. */
  readonly undoSeconds: number;
  readonly colors: (typeof COLORINGS)[number];
}

/** The settings before anybody set anything. */
export const STANDARD: Settings = {
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
    super(STANDARD);
  }

  /** Takes new settings. */
  take(settings: Settings): void {
    this.update(settings);
  }
}
