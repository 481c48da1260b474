/** The services that can be chosen, and which one the views are about. */
import type { ProfileRecord, ProfilesAnswer } from '../api/answers';
import { Store } from './store';
import { visibleText } from './text';
import { PLAIN, type Trans } from './words';

/** Name of the profile of this computer's own service. */
export const EMBEDDED = 'embedded';

/** What people call the service of a profile; null stands for that of this computer. */
export function serviceTitle(profile: string | null, trans: Trans = PLAIN): string {
  return profile === null || profile === EMBEDDED ? trans.__('This computer') : visibleText(profile);
}

/** The same as a place in a sentence: `on this computer`, `at lab`. */
export function servicePlace(profile: string | null, trans: Trans = PLAIN): string {
  return profile === null || profile === EMBEDDED
    ? trans.__('on this computer')
    : trans.__('at %1', visibleText(profile));
}

/** Where profiles come from. */
export interface ProfilesSource {
  /** Name of the profile that is meant; null for the one that notebooks use. */
  profile: string | null;
  profiles(): Promise<ProfilesAnswer>;
}

/** Everything a view shows about services. */
export interface ProfilesState {
  readonly profiles: readonly ProfileRecord[];
  /** The chosen one; null for the one that notebooks use. */
  readonly chosen: string | null;
}

/** The services. */
export class ProfilesModel extends Store<ProfilesState> {
  constructor(source: ProfilesSource) {
    super({ profiles: [], chosen: null });
    this.source = source;
  }

  /** Calls back when another service is meant. */
  onChange: () => void = () => undefined;

  /** Asks which there are; what cannot be had is left as it was. */
  async load(): Promise<void> {
    try {
      const { profiles } = await this.source.profiles();
      this.update({ profiles });
    } catch {
      // the jobs view says that the server does not answer
    }
  }

  /** Means another service from now on; null for the one that notebooks use. */
  choose(name: string | null): void {
    if (name !== this.state().chosen) {
      this.source.profile = name;
      this.update({ chosen: name });
      this.onChange();
    }
  }

  /** Name of the chosen one; null while nobody chose and it is not known which one notebooks use. */
  meant(): string | null {
    return this.state().chosen ?? this.active();
  }

  /** Whether the profile of this name is the chosen one; null stands for it. */
  isMeant(name: string | null): boolean {
    return name === null || name === this.meant();
  }

  /** What code must name so that it reaches a service, the chosen one by default; null when it need not name any. */
  forCode(name: string | null = null): string | null {
    const meant = name ?? this.state().chosen;
    return meant === this.active() ? null : meant;
  }

  private active(): string | null {
    return this.state().profiles.find(profile => profile.isActive)?.name ?? null;
  }

  private readonly source: ProfilesSource;
}
