/** Connects views to the models. */
import { useCallback, useSyncExternalStore } from 'react';

import type { Store } from '../models/store';

/** The state of a model; the view is re-rendered after each change. */
export function useStore<S>(store: Store<S>): S {
  const subscribe = useCallback(
    (onChange: () => void) => {
      store.changed.connect(onChange);
      return () => void store.changed.disconnect(onChange);
    },
    [store]
  );
  return useSyncExternalStore(subscribe, store.state);
}
