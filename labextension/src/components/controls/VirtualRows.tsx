/** A virtualised list: only visible rows are in the document. Rows may have any height, which is measured. */
import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type HTMLAttributes,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  type Ref,
  type RefObject
} from 'react';

import { rowTops, rowAt, scrollFor, sliceRows, type Measured, type Slice } from '../../models/layout';

/** Methods of the list. */
export interface VirtualHandle {
  /** Scrolls until the row is visible. */
  readonly reveal: (index: number) => void;
  /** Number of rows that fit into the view. */
  readonly pageRows: () => number;
  readonly focus: () => void;
}

/** Props of the list. */
export interface VirtualRowsProps<R extends Measured> {
  readonly rows: readonly R[];
  /** Renders a row, whose outermost element must have `data-key`. */
  readonly renderRow: (row: R, index: number) => ReactNode;
  /** Attributes of the scrolling element. */
  readonly attributes: HTMLAttributes<HTMLDivElement>;
  /** The active row and its `id`, reported to assistive technology while the row is in the document. */
  readonly active?: { readonly index: number; readonly id: string } | undefined;
  readonly handle: Ref<VirtualHandle>;
  /** The last rows became visible. */
  readonly onNearEnd: () => void;
  /** Content after the last row. */
  readonly footer?: ReactNode;
}

const UNSEEN_HEIGHT_PX = 600;
const NEAR_END_ROWS = 30;

/** The list. */
export function VirtualRows<R extends Measured>(props: VirtualRowsProps<R>): ReactElement {
  const { rows, active } = props;
  const box = useRef<HTMLDivElement>(null);
  const view = useView(box);
  const { tops, slice } = useMeasuredRows(box, rows, view);
  useAnchor(box, rows, tops);
  useNearEnd(slice.end >= rows.length - NEAR_END_ROWS, rows.length, props.onNearEnd);
  useHandle(props.handle, box, tops, view);

  const isActiveDrawn = active && active.index >= slice.start && active.index < slice.end;
  return (
    <div {...props.attributes} aria-activedescendant={isActiveDrawn ? active.id : undefined} ref={box}>
      <div style={{ height: slice.before }} aria-hidden="true" />
      {rows.slice(slice.start, slice.end).map((row, offset) => props.renderRow(row, slice.start + offset))}
      <div style={{ height: slice.after }} aria-hidden="true" />
      {props.footer}
    </div>
  );
}

/**
 * Returns the `onKeyDown` of a list. Keys pressed on the list itself go to `onKey`, which returns whether the key has a
 * meaning there; Escape in a row returns the focus to the list. Other keys are left to the browser.
 */
export function listKeyHandler(
  list: RefObject<VirtualHandle>,
  onKey: (event: KeyboardEvent) => boolean
): (event: KeyboardEvent) => void {
  return event => {
    const isInside = event.target !== event.currentTarget;
    if (isInside && event.key === 'Escape') {
      list.current?.focus();
    } else if (isInside || !onKey(event)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
}

/** The visible part of a scrolling element, in pixels of its content. */
interface View {
  readonly top: number;
  readonly height: number;
}

/** Measures the rows in the document. Returns where each row begins, in pixels, and the rows to draw. */
function useMeasuredRows(
  box: RefObject<HTMLDivElement>,
  rows: readonly Measured[],
  view: View
): { readonly tops: Float64Array; readonly slice: Slice } {
  const heights = useRef(new Map<string, number>());
  const [layoutVersion, setLayoutVersion] = useState(0);
  const tops = useMemo(
    () => rowTops(rows, heights.current),
    [rows, layoutVersion] // eslint-disable-line react-hooks/exhaustive-deps -- a measured height changes the positions of rows
  );
  const slice = sliceRows(tops, view.top, view.height);
  const estimates = useRef(new Map<string, number>());
  estimates.current = new Map(rows.slice(slice.start, slice.end).map(row => [row.key, row.estimate]));

  const measure = useCallback(() => {
    let hasChanged = false;
    for (const node of box.current?.querySelectorAll<HTMLElement>('[data-key]') ?? []) {
      const height = node.offsetHeight;
      const key = node.dataset.key ?? '';
      const before = heights.current.get(key) ?? estimates.current.get(key);
      if (height > 0 && before !== height) {
        heights.current.set(key, height); // the estimate was right: no redraw needed
        hasChanged = true;
      }
    }
    if (hasChanged) {
      setLayoutVersion(before => before + 1);
    }
  }, [box]);
  useLayoutEffect(measure);
  useRowResize(box, measure);
  return { tops, slice };
}

/** Calls `onNearEnd` when the last rows become visible, and again after `count`, the number of rows, has changed. */
function useNearEnd(isNearEnd: boolean, count: number, onNearEnd: () => void): void {
  useEffect(() => {
    if (isNearEnd) {
      onNearEnd();
    }
  }, [isNearEnd, count, onNearEnd]);
}

/** Provides the methods of the list to its parent. */
function useHandle(handle: Ref<VirtualHandle>, box: RefObject<HTMLDivElement>, tops: Float64Array, view: View): void {
  useImperativeHandle(handle, () => ({
    reveal: index => {
      const scrollTop = scrollFor(tops[index] ?? 0, tops[index + 1] ?? 0, view.top, view.height);
      if (scrollTop !== null && box.current) {
        box.current.scrollTop = scrollTop;
      }
    },
    pageRows: () => Math.max(1, rowAt(tops, view.top + view.height) - rowAt(tops, view.top) - 1),
    focus: () => box.current?.focus()
  }));
}

/** Follows the visible part of the element's content. */
function useView(box: RefObject<HTMLDivElement>): View {
  const [view, setView] = useState<View>({ top: 0, height: UNSEEN_HEIGHT_PX });
  useLayoutEffect(() => {
    const node = box.current;
    if (!node) {
      return undefined;
    }
    let frame = 0;
    const update = (): void => {
      setView({ top: node.scrollTop, height: node.clientHeight || UNSEEN_HEIGHT_PX });
    };
    const onScroll = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(update);
    };
    const observer = new ResizeObserver(update);
    node.addEventListener('scroll', onScroll, { passive: true });
    observer.observe(node);
    update();
    return () => {
      cancelAnimationFrame(frame);
      node.removeEventListener('scroll', onScroll);
      observer.disconnect();
    };
  }, [box]);
  return view;
}

/** Calls `measure` when the height of a row changes, as with a growing log. */
function useRowResize(box: RefObject<HTMLDivElement>, measure: () => void): void {
  useEffect(() => {
    const node = box.current;
    if (!node) {
      return undefined;
    }
    const observer = new ResizeObserver(measure);
    const changes = new MutationObserver(records => {
      for (const { addedNodes, removedNodes } of records) {
        addedNodes.forEach(row => row instanceof Element && observer.observe(row));
        removedNodes.forEach(row => row instanceof Element && observer.unobserve(row));
      }
    });
    changes.observe(node, { childList: true });
    node.querySelectorAll('[data-key]').forEach(row => observer.observe(row));
    return () => {
      changes.disconnect();
      observer.disconnect();
    };
  }, [box, measure]);
}

/** Keeps visible rows in place when rows above are added or removed; at the top, new rows are shown. */
function useAnchor(box: RefObject<HTMLDivElement>, rows: readonly Measured[], tops: Float64Array): void {
  const anchor = useRef<{ key: string; top: number; tops: Float64Array } | null>(null);
  useLayoutEffect(() => {
    const node = box.current;
    const previous = anchor.current;
    if (!node) {
      return;
    }
    if (previous && previous.tops !== tops && node.scrollTop > 0) {
      const top = tops[rows.findIndex(row => row.key === previous.key)];
      if (top !== undefined && top !== previous.top) {
        node.scrollTop += top - previous.top;
      }
    }
    const index = rowAt(tops, node.scrollTop);
    const row = rows[index];
    anchor.current = row ? { key: row.key, top: tops[index] ?? 0, tops } : null;
  });
}
