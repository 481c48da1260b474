/** A notice: what happened, to what, and what to do next. */
import type { ReactElement, ReactNode } from 'react';

import { CodeText } from './CodeText';

/** How serious a notice is. */
export type NoticeTone = 'plain' | 'busy' | 'warning' | 'error';

/** An action of a notice. */
export interface NoticeAction {
  readonly label: string;
  readonly onClick: () => void;
}

/** Props of a notice. */
export interface NoticeProps {
  readonly tone: NoticeTone;
  readonly title: string;
  readonly children?: ReactNode;
  /** The main action. */
  readonly action?: NoticeAction | undefined;
  /** Other actions. */
  readonly others?: readonly NoticeAction[];
  /** Whether it fills the view, because there is nothing else to show. */
  readonly fillsView?: boolean;
}

/** A notice in a view. */
export function Notice(props: NoticeProps): ReactElement {
  const { tone, title, children, action, others = [], fillsView } = props;
  const actions = action ? [action, ...others] : others;
  return (
    <div
      className={`fn-Notice fn-mod-${tone}${fillsView ? ' fn-mod-whole' : ''}`}
      role={tone === 'error' ? 'alert' : 'status'}
    >
      <div className="fn-Notice-title">{title}</div>
      {children !== undefined && (
        <div className="fn-Notice-text">{typeof children === 'string' ? <CodeText text={children} /> : children}</div>
      )}
      {tone === 'busy' && <div className="fn-Bar fn-mod-endless" aria-hidden="true" />}
      {actions.length > 0 && (
        <div className="fn-Notice-actions">
          {actions.map(({ label, onClick }) => (
            <button key={label} type="button" className="fn-Button" onClick={onClick}>
              {label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
