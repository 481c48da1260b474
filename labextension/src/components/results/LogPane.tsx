/** The end of a job's log, followed while the job is unfinished. */
import { Poll } from '@lumino/polling';
import { useEffect, useRef, useState, type ReactElement, type RefObject, type UIEvent } from 'react';

import { messageOf, visibleText } from '../../models/formatting/text';
import { Notice } from '../controls/Notice';
import { useTranslation } from '../translation';

/** Props of the pane. */
export interface LogPaneProps {
  readonly name: string;
  /** Whether the job can still write. */
  readonly isLive: boolean;
  /** Whether it is a batch, whose jobs have their own logs. */
  readonly isBatch?: boolean;
  readonly read: (name: string) => Promise<string>;
  /** Polling interval in milliseconds. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 2000;
const NEAR_END_PX = 24;

/** A log in the row of its job. */
export function LogPane({ name, isLive, isBatch = false, read, intervalMs = INTERVAL_MS }: LogPaneProps): ReactElement {
  const trans = useTranslation();
  const { text, fault } = useLog(name, isLive, read, intervalMs);
  const pane = useRef<HTMLPreElement>(null);
  const onScroll = useFollowedEnd(pane, text);
  const isRead = text !== null || fault !== null;
  useEffect(() => {
    if (isRead) {
      pane.current?.scrollIntoView({ block: 'nearest' }); // a log opened at the bottom of the list may have grown out of view
    }
  }, [isRead]);

  if (fault === null && text?.trim() === '' && !isLive) {
    return (
      <Notice tone="plain" title={trans.__('No log')}>
        {isBatch
          ? trans.__('A batch has no log; each of its jobs has its own.')
          : trans.__('The tool wrote no log while the job ran.')}
      </Notice>
    );
  }
  return (
    <pre
      className="fn-Log"
      ref={pane}
      tabIndex={0}
      aria-label={trans.__('Log of %1', visibleText(name))}
      aria-live={isLive ? 'polite' : 'off'}
      onScroll={onScroll}
    >
      {fault !== null
        ? trans.__('The log cannot be read. %1', fault)
        : text?.trim() === ''
          ? trans.__('The log is empty.')
          : (text ?? trans.__('Loading the log …'))}
    </pre>
  );
}

/** The end of a log. */
interface Log {
  /** Null before it was first read. */
  readonly text: string | null;
  /** Why the last reading failed; null if it did not. */
  readonly fault: string | null;
}

/** Reads the log of a job: repeatedly while `isLive`, otherwise once. */
function useLog(name: string, isLive: boolean, read: LogPaneProps['read'], intervalMs: number): Log {
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    const poll = new Poll<string, unknown>({
      name: 'foldnote:log',
      frequency: { interval: intervalMs, backoff: true },
      factory: () => read(name)
    });
    poll.ticked.connect((_, { phase, payload }) => {
      if (phase === 'rejected') {
        setFault(messageOf(payload));
      } else if (typeof payload === 'string') {
        setText(payload);
        setFault(null);
      }
      if (!isLive && phase !== 'started') {
        void poll.stop();
      }
    });
    return () => poll.dispose();
  }, [name, isLive, read, intervalMs]);
  return { text, fault };
}

/** Scrolls to the end after each change of the text, unless the reader has scrolled up. Returns the pane's `onScroll`. */
function useFollowedEnd(pane: RefObject<HTMLElement>, text: string | null): (event: UIEvent) => void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (pane.current && isAtEnd.current) {
      pane.current.scrollTop = pane.current.scrollHeight;
    }
  }, [pane, text]);
  return ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  };
}
