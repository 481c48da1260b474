/** React context for the translation of views. */
import { createContext, useContext } from 'react';

import { PLAIN, type Trans } from '../models/translation';

/** Provides the translation to the views below. */
export const TranslationContext = createContext<Trans>(PLAIN);

/** The translation of this view. */
export function useTranslation(): Trans {
  return useContext(TranslationContext);
}
