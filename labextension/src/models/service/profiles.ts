/** The available services, and the selected one. */
import type { ProfileRecord, ProfilesResponse } from '../../api/responses';
import { Store } from '../store';
import { visibleText } from '../formatting/text';
import { PLAIN, type Trans } from '../translation';

/** Name of the profile of this computer's service. */
export const EMBEDDED = 'embedded';

/** Display name of the service of a profile; null for that of this computer. */
export function serviceTitle(profile: string | null, trans: Trans = PLAIN): string {
  return profile === null || profile === EMBEDDED ? trans.__('This computer') : visibleText(profile);
}

/** The service's place in a sentence: `on this computer`, `at lab`. */
export function serviceLocation(profile: string | null, trans: Trans = PLAIN): string {
  return profile === null || profile === EMBEDDED
    ? trans.__('on this computer')
    : trans.__('at %1', visibleText(profile));
}

/** Source of profiles. */
export interface ProfilesSource {
  /** Name of the selected profile; null for the one that notebooks use. */
  profile: string | null;
  profiles(): Promise<ProfilesResponse>;
}

/** Everything a view shows about services. */
export interface ProfilesState {
  readonly profiles: readonly ProfileRecord[];
  /** The selected one; null for the one that notebooks use. */
  readonly chosen: string | null;
}

/** The services. */
export class ProfilesModel extends Store<ProfilesState> {
  constructor(source: ProfilesSource) {
    super({ profiles: [], chosen: null });
    this.source = source;
  }

  /** Called after switching to another service. */
  onChange: () => void = () => undefined;

  /** Requests the list; after a failure the previous one is kept. */
  async load(): Promise<void> {
    try {
      const { profiles } = await this.source.profiles();
      this.update({ profiles });
    } catch {
      // the jobs view reports that the server does not answer
    }
  }

  /** Switches to another service; null for the one that notebooks use. */
  choose(name: string | null): void {
    if (name !== this.state().chosen) {
      this.source.profile = name;
      this.update({ chosen: name });
      this.onChange();
    }
  }

  /** Name of the selected one; null if none was selected and the one that notebooks use is unknown. */
  selected(): string | null {
    return this.state().chosen ?? this.active();
  }

  /** Whether this profile is the selected one; true for null. */
  isSelected(name: string | null): boolean {
    return name === null || name === this.selected();
  }

  /**
   * Whether jobs of this profile (by default the selected one) can be shared; the service on this computer has only one
   * user.
   */
  canShare(name: string | null): boolean {
    return (name ?? this.selected() ?? EMBEDDED) !== EMBEDDED;
  }

  /** The profile that code must name to use a service (by default the selected one); null if none. */
  forCode(name: string | null = null): string | null {
    const profile = name ?? this.state().chosen;
    return profile === this.active() ? null : profile;
  }

  private active(): string | null {
    return this.state().profiles.find(profile => profile.isActive)?.name ?? null;
  }

  private readonly source: ProfilesSource;
}
