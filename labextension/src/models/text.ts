/**
 * Text from elsewhere, made safe to read. React already keeps markup from working; this keeps a name from looking like
 * another one.
 */

/** Control characters, and those that turn the direction of reading or show nothing at all. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** The text with each invisible character shown as a replacement sign. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, '\ufffd');
}

/** A number of things with a comma between thousands: `2,000`. `foldnote.text.count` follows the same rule. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** What went wrong, in a sentence that can be shown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
