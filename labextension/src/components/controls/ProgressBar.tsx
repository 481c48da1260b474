/** A progress bar. */
import type { ReactElement } from 'react';

/** Props of the bar. */
export interface ProgressBarProps {
  /** Accessible name of the task. */
  readonly label: string;
  /** Progress in per cent; null if unknown. */
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

/** Converts a fraction (0 to 1) to whole per cent; null if unknown. */
export function percentOf(fraction: number | null): number | null {
  return fraction === null ? null : Math.round(Math.min(1, Math.max(0, fraction)) * 100);
}
