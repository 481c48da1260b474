/** React context for the translation of views. */
import { createContext, useContext } from 'react';

import { PLAIN, type Trans } from '../models/words';

/** Provides the translation to the views below. */
export const Words = createContext<Trans>(PLAIN);

/** The translation of this view. */
export function useWords(): Trans {
  return useContext(Words);
}
