/**
 * Closes the gap in a text that is truncated in the middle: before the text after an ellipsis, the browser leaves the
 * space of a letter that does not fit.
 */

const ELLIPSIS = '…';
const widths = new Map<string, number>();

/** Moves the end of a truncated text to its ellipsis; `whole` has an element for the start, and one for the end. */
export function collapseGap(whole: HTMLElement): void {
  const [start, end] = whole.children;
  const letters = start?.firstChild;
  if (start instanceof HTMLElement && end instanceof HTMLElement && letters instanceof Text) {
    const isLeftward = getComputedStyle(whole).direction === 'ltr';
    const gap = start.scrollWidth > start.clientWidth ? gapOf(start, letters) : 0;
    end.style.transform = gap > 0 ? `translateX(${isLeftward ? -gap : gap}px)` : '';
  }
}

/** The unused width of a truncated text after its ellipsis, in px. */
function gapOf(box: HTMLElement, letters: Text): number {
  const room = box.getBoundingClientRect().width - ellipsisWidth(getComputedStyle(box));
  const range = document.createRange();
  range.setStart(letters, 0);
  let [fits, over] = [0, letters.length];
  let shown = 0;
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    range.setEnd(letters, middle);
    const { width } = range.getBoundingClientRect();
    if (width <= room) {
      [fits, shown] = [middle, width];
    } else {
      over = middle;
    }
  }
  return Math.max(0, room - shown);
}

/** The width of an ellipsis in this font, in px. */
function ellipsisWidth({ fontStyle, fontWeight, fontSize, fontFamily }: CSSStyleDeclaration): number {
  const font = [fontStyle, fontWeight, fontSize, fontFamily].join(' '); // the shorthand may be missing
  const known = widths.get(font);
  if (known !== undefined) {
    return known;
  }
  const pen = document.createElement('canvas').getContext('2d');
  if (pen === null) {
    return 0;
  }
  pen.font = font;
  const { width } = pen.measureText(ELLIPSIS);
  widths.set(font, width);
  return width;
}
