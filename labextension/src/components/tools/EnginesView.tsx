/** The engines on this computer: installed and available ones, with their sizes and licences. */
import type { ReactElement } from 'react';

import type { EngineRecord } from '../../api/responses';
import type { EnginesState } from '../../models/service/engines';
import { formatSize } from '../../models/formatting/size';
import { formatCount } from '../../models/formatting/text';
import { formatMoment } from '../../models/formatting/time';
import { Notice } from '../controls/Notice';
import { percentOf, ProgressBar } from '../controls/ProgressBar';
import { useTranslation } from '../translation';

/** Props of the view. */
export interface EnginesViewProps {
  readonly state: EnginesState;
  /** Shows the licence and asks for confirmation first; adds the optional weights of an installed engine. */
  readonly onInstall: (engine: EngineRecord) => void;
  /** Asks for confirmation first. */
  readonly onRemove: (engine: EngineRecord) => void;
  /** Cancels an installation. */
  readonly onCancel: (engine: EngineRecord) => void;
}

/**
 * The engines of this computer: those that run, those that can be installed, and those that need a program of the user.
 */
export function EnginesView(props: EnginesViewProps): ReactElement {
  const { engines, requestError } = props.state;
  const trans = useTranslation();
  const all = engines ?? [];
  const ownCopies = all.filter(engine => !engine.hasEnvironment && !engine.isInstalled);
  const others = all.filter(engine => !ownCopies.includes(engine));
  const bytes = all.reduce((sum, engine) => sum + installedBytes(engine), 0);
  const installed = trans.__('Installed');
  return (
    <div className="fn-View">
      <section className="fn-Engines" aria-label={trans.__('Engines on this computer')}>
        {requestError !== null && (
          <Notice tone="warning" title={trans.__('The engines cannot be listed')}>
            {requestError}
          </Notice>
        )}
        {engines === null && requestError === null && <Notice tone="busy" title={trans.__('Loading engines')} />}
        <EngineGroup
          {...props}
          title={bytes > 0 ? `${installed} · ${formatSize(bytes)}` : installed}
          engines={others.filter(engine => engine.isInstalled)}
        />
        <EngineGroup
          {...props}
          title={trans.__('Can be installed')}
          engines={others.filter(engine => !engine.isInstalled)}
        />
        <EngineGroup {...props} title={trans.__('Need your own copy of the program')} engines={ownCopies} />
      </section>
    </div>
  );
}

/** End of the name of an adapter's method, omitted because the heading says it for all of them. */
const OWN_COPY = /, by your own copy of the program$/;

interface EngineGroupProps extends EnginesViewProps {
  readonly title: string;
  readonly engines: readonly EngineRecord[];
}

function EngineGroup(props: EngineGroupProps): ReactElement | null {
  const { title, engines } = props;
  if (engines.length === 0) {
    return null;
  }
  return (
    <>
      <h3 className="fn-Section">
        {title} <span className="fn-Filter-count">{formatCount(engines.length)}</span>
      </h3>
      {engines.map(engine => (
        <Engine key={engine.name} engine={engine} {...props} />
      ))}
    </>
  );
}

/** Size of the environment of an installed engine; 0 if unknown. */
function installedBytes(engine: EngineRecord): number {
  return engine.isInstalled ? engine.installedMb * 2 ** 20 : 0;
}

function Engine(props: EnginesViewProps & { readonly engine: EngineRecord }): ReactElement {
  const { engine } = props;
  const trans = useTranslation();
  const percent = percentOf(engine.fraction);
  const bytes = installedBytes(engine);
  return (
    <div className="fn-Engine">
      <div className="fn-Engine-name">{engine.method.replace(OWN_COPY, '')}</div>
      <EngineButtons {...props} />
      <p className="fn-Tool-method">
        {[
          engine.tools.length > 0 && trans.__('Runs %1', engine.tools.join(', ')),
          engine.addsTo.length > 0 && trans.__('Used by %1 where it is installed', engine.addsTo.join(', ')),
          bytes > 0 && formatSize(bytes),
          !engine.isInstalled && engine.diskMb > 0 && trans.__('at least %1', formatSize(engine.diskMb * 1e6))
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {engine.isBusy && (
        <>
          <ProgressBar label={trans.__('Installing or removing %1', engine.name)} percent={percent} />
          <p className="fn-JobRow-message" title={engine.message}>
            {engine.message}
          </p>
        </>
      )}
      {!engine.isBusy && engine.message !== '' && (
        <p className={engine.hasFailed ? 'fn-JobRow-error fn-mod-whole' : 'fn-Tool-method'} role="status">
          {engine.message}
        </p>
      )}
      <EngineNotes engine={engine} />
    </div>
  );
}

/** Licence, weights and configuration, collapsed. */
function EngineNotes({ engine }: { readonly engine: EngineRecord }): ReactElement | null {
  const trans = useTranslation();
  const notes = [
    engine.licence && trans.__('Licence: %1', engine.licence),
    ...engine.terms
      .filter(term => term.accepted !== null)
      .map(term => trans.__('Licence of %1 accepted by %2 on %3', term.name, term.user, formatMoment(term.accepted))),
    engine.weightsNote,
    engine.isInstalled && engine.optionalMethod !== '' && trans.__('With optional weights: %1', engine.optionalMethod),
    !engine.hasEnvironment && engine.how
  ].filter(note => typeof note === 'string' && note !== '');
  return notes.length === 0 ? null : (
    <details className="fn-Engine-notes">
      <summary>{engine.hasEnvironment ? trans.__('Licence and notes') : trans.__('What to configure')}</summary>
      {notes.map(note => (
        <p className="fn-Tool-method" key={note.toString()}>
          {note}
        </p>
      ))}
    </details>
  );
}

/** The buttons that apply to the engine now. */
function EngineButtons(props: EnginesViewProps & { readonly engine: EngineRecord }): ReactElement | null {
  const { engine } = props;
  const trans = useTranslation();
  const button = (label: string, text: string, onPress: (engine: EngineRecord) => void): ReactElement => (
    <button type="button" className="fn-Button fn-mod-small" aria-label={label} onClick={() => onPress(engine)}>
      {text}
    </button>
  );
  if (!engine.hasEnvironment && !engine.isBusy) {
    return null;
  }
  return (
    <div className="fn-Engine-buttons">
      {engine.isBusy &&
        button(trans.__('Cancel installing or removing %1', engine.name), trans.__('Cancel'), props.onCancel)}
      {!engine.isBusy &&
        !engine.isInstalled &&
        button(trans.__('Install %1', engine.name), trans.__('Install …'), props.onInstall)}
      {!engine.isBusy &&
        engine.isInstalled &&
        engine.optionalMethod !== '' &&
        button(trans.__('Add optional weights to %1', engine.name), trans.__('Add weights …'), props.onInstall)}
      {!engine.isBusy &&
        engine.hasFiles &&
        button(trans.__('Remove %1', engine.name), trans.__('Remove …'), props.onRemove)}
    </div>
  );
}
