/**
 * Makes untrusted text safe to display. React escapes markup; this prevents a name from imitating another one.
 */

/** Control characters, and characters that are invisible or change the text direction. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Replaces each invisible character by a replacement character. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, '\ufffd');
}

/** Formats a count with thousands separators: `2,000`, like `foldnote.text.count`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** The message of an error for display. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
