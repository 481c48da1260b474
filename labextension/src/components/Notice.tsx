/** A designed state: what happened, to what, and what to do next. */
import type { ReactElement, ReactNode } from 'react';

/** How serious a notice is. */
export type NoticeTone = 'plain' | 'busy' | 'warning' | 'error';

/** What a notice needs. */
export interface NoticeProps {
  readonly tone: NoticeTone;
  readonly title: string;
  readonly children?: ReactNode;
  /** Label and act of the one thing to do next. */
  readonly action?: { readonly label: string; readonly onClick: () => void } | undefined;
  /** Fills the view when there is nothing else to show. */
  readonly isWhole?: boolean;
}

/** A notice in a view. */
export function Notice(props: NoticeProps): ReactElement {
  const { tone, title, children, action, isWhole } = props;
  return (
    <div
      className={`fn-Notice fn-mod-${tone}${isWhole ? ' fn-mod-whole' : ''}`}
      role={tone === 'error' ? 'alert' : 'status'}
    >
      <div className="fn-Notice-title">{title}</div>
      {children !== undefined && <div className="fn-Notice-text">{children}</div>}
      {tone === 'busy' && <div className="fn-Bar fn-mod-endless" aria-hidden="true" />}
      {action && (
        <button type="button" className="fn-Button" onClick={action.onClick}>
          {action.label}
        </button>
      )}
    </div>
  );
}
