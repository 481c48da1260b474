/** The services that can be chosen, and which one the views are about. */
import type { ProfileRecord, ProfilesAnswer } from '../api/answers';
import { Store } from './store';

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

  /** What code must name so that it reaches the chosen service; null when it need not name any. */
  forCode(): string | null {
    const { chosen, profiles } = this.state();
    const active = profiles.find(profile => profile.isActive)?.name ?? null;
    return chosen === active ? null : chosen;
  }

  private readonly source: ProfilesSource;
}
