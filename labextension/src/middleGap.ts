/**
 * Closes the gap in a text that is truncated in the middle: before the text after an ellipsis, the browser leaves the
 * space of a letter that does not fit.
 */

const ELLIPSIS = '…';
const widths = new Map<string, number>();

/** Moves the end of a truncated text to its ellipsis; `whole` has an element for the start, and one for the end. */
export function collapseGap(container: HTMLElement): void {
  const [start, end] = container.children;
  const textNode = start?.firstChild;
  if (start instanceof HTMLElement && end instanceof HTMLElement && textNode instanceof Text) {
    const isLeftToRight = getComputedStyle(container).direction === 'ltr';
    const gap = start.scrollWidth > start.clientWidth ? gapOf(start, textNode) : 0;
    end.style.transform = gap > 0 ? `translateX(${isLeftToRight ? -gap : gap}px)` : '';
  }
}

/** The unused width of a truncated text after its ellipsis, in px. */
function gapOf(box: HTMLElement, textNode: Text): number {
  const available = box.getBoundingClientRect().width - ellipsisWidth(getComputedStyle(box));
  const range = document.createRange();
  range.setStart(textNode, 0);
  let [low, high] = [0, textNode.length];
  let fittingWidth = 0;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    range.setEnd(textNode, middle);
    const { width } = range.getBoundingClientRect();
    if (width <= available) {
      [low, fittingWidth] = [middle, width];
    } else {
      high = middle;
    }
  }
  return Math.max(0, available - fittingWidth);
}

/** The width of an ellipsis in this font, in px. */
function ellipsisWidth({ fontStyle, fontWeight, fontSize, fontFamily }: CSSStyleDeclaration): number {
  const font = [fontStyle, fontWeight, fontSize, fontFamily].join(' '); // the shorthand may be missing
  const cached = widths.get(font);
  if (cached !== undefined) {
    return cached;
  }
  const context = document.createElement('canvas').getContext('2d');
  if (context === null) {
    return 0;
  }
  context.font = font;
  const { width } = context.measureText(ELLIPSIS);
  widths.set(font, width);
  return width;
}
