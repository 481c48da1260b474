/** An upload: state, progress and actions. */
import { closeIcon, refreshIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Upload } from '../../models/files/files';
import { visibleText } from '../../models/formatting/text';
import type { Trans } from '../../models/translation';
import { IconButton } from '../controls/IconButton';
import { MiddleText } from '../controls/MiddleText';
import { percentOf, ProgressBar } from '../controls/ProgressBar';
import { useTranslation } from '../translation';

/** Props of the row. */
export interface UploadRowProps {
  readonly upload: Upload;
  readonly onRetry: () => void;
  readonly onDismiss: () => void;
}

/** An upload. */
export function UploadRow({ upload, onRetry, onDismiss }: UploadRowProps): ReactElement {
  const { name, phase, fraction, reason, fault } = upload;
  const trans = useTranslation();
  const displayName = visibleText(name);
  const percent = percentOf(fraction);
  const hasFailed = phase === 'failed';
  const isActive = !hasFailed && phase !== 'queued';
  return (
    <div className="fn-Upload">
      <span className="fn-File-name" title={displayName}>
        <MiddleText text={displayName} />
      </span>
      <span className="fn-Upload-acts">
        {(hasFailed || phase === 'waiting') && (
          <IconButton icon={refreshIcon} label={trans.__('Retry the upload of %1', displayName)} onClick={onRetry} />
        )}
        <IconButton
          icon={closeIcon}
          label={
            hasFailed
              ? trans.__('Dismiss the upload of %1', displayName)
              : trans.__('Cancel the upload of %1', displayName)
          }
          onClick={onDismiss}
        />
      </span>
      <p
        className={hasFailed ? 'fn-JobRow-error fn-mod-whole' : 'fn-Upload-word'}
        role={hasFailed ? 'alert' : undefined}
      >
        {hasFailed ? fault : describePhase(phase, percent, trans)}
      </p>
      {reason !== null && (
        <p className="fn-Upload-word" role="status">
          {phase === 'passing' ? trans.__('%1 Retrying automatically; you need not upload it again.', reason) : reason}
        </p>
      )}
      {isActive && (
        <ProgressBar label={trans.__('Upload of %1', displayName)} percent={percent} isWaiting={phase === 'waiting'} />
      )}
    </div>
  );
}

function describePhase(phase: Upload['phase'], percent: number | null, trans: Trans): string {
  const percentText = percent === null ? '' : ` · ${percent} %`;
  switch (phase) {
    case 'queued':
      return trans.__('Waiting for other uploads');
    case 'waiting':
      return trans.__('The connection was lost. The upload will resume.');
    case 'passing':
      return trans.__('Sending to the service') + percentText;
    default:
      return trans.__('Sending to Jupyter') + percentText;
  }
}
