/** How far something is. */
import type { ReactElement } from 'react';

/** What the bar needs. */
export interface ProgressBarProps {
  /** What is under way, for screen readers. */
  readonly label: string;
  /** Per cent that are done; null when that is not known. */
  readonly percent: number | null;
  /** Whether progress is paused at the known fraction. */
  readonly isWaiting?: boolean;
}

/** A bar. */
export function ProgressBar({ label, percent, isWaiting = false }: ProgressBarProps): ReactElement {
  return (
    <div
      className={`fn-Bar${percent === null || isWaiting ? ' fn-mod-endless' : ''}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent ?? undefined}
    >
      <div className="fn-Bar-done" style={{ width: `${percent ?? 0}%` }} />
    </div>
  );
}

/** A share from 0 to 1 in whole per cent; null when it is not known. */
export function percentOf(share: number | null): number | null {
  return share === null ? null : Math.round(Math.min(1, Math.max(0, share)) * 100);
}
