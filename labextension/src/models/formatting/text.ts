/**
 * Makes untrusted text safe to display. React escapes markup; this prevents a name from imitating another one.
 */

/** Control characters, and characters that are invisible or change the text direction. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Replaces each invisible character by a replacement character. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, '\ufffd');
}

/** A part of a sentence. */
export interface TextPart {
  readonly text: string;
  readonly isCode: boolean;
}

/** Code in a sentence is between backticks, as for `foldnote.text.mark_code` in cells. */
const CODE = /`([^`]+)`/;

/**
 * Splits a sentence into text and the code between backticks, on one line and with visible characters; no part is
 * empty.
 */
export function splitCode(text: string): readonly TextPart[] {
  return text
    .replace(/[\r\n]+/g, ' ')
    .split(CODE) // every second part is a match of the group
    .map((part, index) => ({ text: visibleText(part), isCode: index % 2 === 1 }))
    .filter(part => part.text !== '');
}

/** A sentence without the backticks around its code, for tooltips and notifications. */
export function plainSentence(text: string): string {
  return splitCode(text)
    .map(part => part.text)
    .join('');
}

/** Number of final characters that stay visible when the middle of a text is truncated. */
const END_LENGTH = 10;
/** Texts up to this length are not split. */
const MAX_UNSPLIT_LENGTH = 14;
/** Created on first use, because it loads a table. */
let segmenter: Intl.Segmenter | undefined;

/** Splits a text into a part that may be truncated and an end that stays visible; short texts have no such end. */
export function splitEnd(text: string): readonly [string, string] {
  if (text.length <= MAX_UNSPLIT_LENGTH) {
    return [text, ''];
  }
  segmenter ??= new Intl.Segmenter();
  const characters = [...segmenter.segment(text)].map(({ segment }) => segment);
  return [characters.slice(0, -END_LENGTH).join(''), characters.slice(-END_LENGTH).join('')];
}

/**
 * Formats a count, a whole number, with thousands separators: `2,000`, like `foldnote.text.count`.
 *
 * The browser's own number formats are not used, because loading their tables would delay JupyterLab's start by 4 ms.
 */
export function formatCount(count: number): string {
  return String(count).replace(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
}

/** HTTP status of a failed request; undefined for other errors. */
export function statusOf(error: unknown): unknown {
  return error instanceof Error && 'status' in error ? error.status : undefined;
}

/** The message of an error for display. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
