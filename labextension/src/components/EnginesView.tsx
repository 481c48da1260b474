/** The engines on this computer: installed and available ones, with their licences. */
import { useEffect, useRef, type ReactElement } from 'react';

import type { EngineRecord } from '../api/answers';
import type { EnginesState } from '../models/engines';
import { formatSize } from '../models/size';
import { FoldIcon } from './icons';
import { Notice } from './Notice';
import { percentOf, ProgressBar } from './ProgressBar';
import { useWords } from './words';

/** Props of the view. */
export interface EnginesViewProps {
  readonly state: EnginesState;
  /** Shows the licence and asks for confirmation first; adds the optional weights of an installed engine. */
  readonly onInstall: (engine: EngineRecord) => void;
  /** Asks for confirmation first. */
  readonly onRemove: (engine: EngineRecord) => void;
  /** Cancels an installation. */
  readonly onCancel: (engine: EngineRecord) => void;
  readonly onOpen: (isOpen: boolean) => void;
}

/** A collapsible section of the tools panel. */
export function EnginesView(props: EnginesViewProps): ReactElement {
  const { state } = props;
  const trans = useWords();
  const { isOpen } = state;
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isOpen) {
      section.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [isOpen]);
  return (
    <section className="fn-Engines" ref={section} aria-label={trans.__('Engines of this computer')}>
      <button type="button" className="fn-Fold" aria-expanded={isOpen} onClick={() => props.onOpen(!isOpen)}>
        <FoldIcon isOpen={isOpen} /> {trans.__('Engines of this computer')}
      </button>
      {isOpen && state.complaint !== null && (
        <Notice tone="warning" title={trans.__('The engines cannot be listed')}>
          {state.complaint}
        </Notice>
      )}
      {isOpen && state.engines === null && state.complaint === null && (
        <Notice tone="busy" title={trans.__('Looking for engines')} />
      )}
      {isOpen && state.engines?.map(engine => <Engine key={engine.name} engine={engine} {...props} />)}
    </section>
  );
}

function Engine(props: EnginesViewProps & { readonly engine: EngineRecord }): ReactElement {
  const { engine } = props;
  const trans = useWords();
  const percent = percentOf(engine.fraction);
  return (
    <div className="fn-Engine">
      <div className="fn-Engine-name">{engine.method}</div>
      <EngineButtons {...props} />
      <p className="fn-Tool-method">
        {[
          engine.tools.length > 0 && trans.__('Runs %1', engine.tools.join(', ')),
          engine.addsTo.length > 0 && trans.__('Adds to %1 where it is installed', engine.addsTo.join(', ')),
          engine.licence && trans.__('Licence: %1', engine.licence),
          !engine.isInstalled && engine.diskMb > 0 && trans.__('Takes at least %1', formatSize(engine.diskMb * 1e6))
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {engine.weightsNote !== '' && <p className="fn-Tool-method">{engine.weightsNote}</p>}
      {engine.isInstalled && engine.optionalMethod !== '' && (
        <p className="fn-Tool-method">{trans.__('With optional weights: %1', engine.optionalMethod)}</p>
      )}
      {engine.isBusy && (
        <>
          <ProgressBar label={trans.__('Installing or removing %1', engine.name)} percent={percent} />
          <p className="fn-JobRow-message" title={engine.message}>
            {engine.message}
          </p>
        </>
      )}
      {!engine.hasEnvironment && engine.how !== '' && <p className="fn-Tool-method">{engine.how}</p>}
      {!engine.isBusy && engine.message !== '' && (
        <p className={engine.hasFailed ? 'fn-JobRow-error fn-mod-whole' : 'fn-Tool-method'} role="status">
          {engine.message}
        </p>
      )}
    </div>
  );
}

/** The buttons that apply to the engine now. */
function EngineButtons(props: EnginesViewProps & { readonly engine: EngineRecord }): ReactElement | null {
  const { engine } = props;
  const trans = useWords();
  const button = (label: string, word: string, act: (engine: EngineRecord) => void): ReactElement => (
    <button type="button" className="fn-Button fn-mod-small" aria-label={label} onClick={() => act(engine)}>
      {word}
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
