/** Words for views: whoever draws them says once which translation is meant. */
import { createContext, useContext } from 'react';

import { PLAIN, type Trans } from '../models/words';

/** The translation of the views below. */
export const Words = createContext<Trans>(PLAIN);

/** The translation of this view. */
export function useWords(): Trans {
  return useContext(Words);
}
