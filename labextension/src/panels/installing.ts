/** Dialogs before an engine is installed or removed. */
import { Dialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { EngineRecord } from '../api/responses';
import { confirmAction } from '../dialogs';
import { formatSize } from '../models/formatting/size';
import type { Trans } from '../models/translation';
import type { IFoldnote } from '../tokens';

/** Installs an engine, or the optional weights of an installed one, after confirmation. */
export async function install(foldnote: IFoldnote, engine: EngineRecord): Promise<void> {
  if (engine.isInstalled) {
    await addWeights(foldnote, engine);
    return;
  }
  const { engines, trans } = foldnote;
  const title = trans.__('Install %1?', engine.method);
  const size = engine.diskMb > 0 ? formatSize(engine.diskMb * 1e6) : trans.__('gigabytes');
  const body = paragraphs(
    trans.__('Licence: %1', engine.licence || trans.__('not stated')),
    engine.licenceNote,
    ...describeMissingWeights(engine, false, trans),
    ...describeTerms(engine, false, trans),
    engine.weightsNote,
    trans.__(
      'It is downloaded and installed in its own environment on this computer. This may take several minutes and needs at least %1 of disk space.',
      size
    )
  );
  const acceptLabel = nameInstallation(engine, false, trans);
  if (await confirmAction(title, body, acceptLabel, trans.__('Cancel'), Dialog.okButton)) {
    await engines.change(engine.name, 'install');
  }
}

/** Downloads the optional weights of an installed engine after confirmation. */
async function addWeights({ engines, trans }: IFoldnote, engine: EngineRecord): Promise<void> {
  const title = trans.__('Add the optional weights of %1?', engine.method);
  const body = paragraphs(
    trans.__('With them it runs %1.', engine.optionalMethod),
    engine.licenceNote,
    ...describeMissingWeights(engine, true, trans),
    ...describeTerms(engine, true, trans)
  );
  const acceptLabel = nameInstallation(engine, true, trans);
  if (await confirmAction(title, body, acceptLabel, trans.__('Cancel'), Dialog.okButton)) {
    await engines.change(engine.name, 'complete');
  }
}

function describeMissingWeights(engine: EngineRecord, isOptional: boolean, trans: Trans): string[] {
  return listMissingWeights(engine, isOptional).map(item => describeWeights(item, trans));
}

function listMissingWeights({ weights }: EngineRecord, isOptional: boolean): EngineRecord['weights'] {
  return weights.filter(item => !item.isInstalled && item.isOptional === isOptional);
}

/** The label of the button that begins an installation; it mentions terms only if there are terms to accept. */
function nameInstallation(engine: EngineRecord, isOptional: boolean, trans: Trans): string {
  return listTermsToAccept(engine, isOptional).length > 0 ? trans.__('Accept and Install') : trans.__('Install');
}

/** The terms that must be accepted for an installation. */
function listTermsToAccept({ terms }: EngineRecord, isOptional: boolean): EngineRecord['terms'] {
  return terms.filter(item => item.isAsked && item.isOptional === isOptional);
}

/** Describes what the button accepts, with links to the terms, and that it is recorded; empty without terms. */
function describeTerms(engine: EngineRecord, isOptional: boolean, trans: Trans): HTMLElement[] {
  const rows = listTermsToAccept(engine, isOptional).map(({ name, licence, source, url }) => {
    const line = paragraph(trans.__('You must accept the licence of %1: %2 (%3).', name, licence, source));
    line.classList.add('fn-Terms');
    if (url !== '') {
      const link = document.createElement('a');
      Object.assign(link, { href: url, target: '_blank', rel: 'noopener', textContent: trans.__('Read the licence') });
      line.append(' ', link);
    }
    return line;
  });
  const record = trans.__('Your acceptance is recorded on this computer, with your user name and the time.');
  return rows.length > 0 ? [...rows, paragraph(record)] : [];
}

/** Describes what is downloaded from the authors of a model, its size, and its terms. */
function describeWeights(weights: EngineRecord['weights'][number], trans: Trans): string {
  const { host, isExact, licence, name, sizeBytes, source } = weights;
  const size = sizeBytes > 0 ? formatSize(sizeBytes) : trans.__('of unknown size');
  const sizeText = sizeBytes > 0 && !isExact ? trans.__('about %1', size) : size;
  return trans.__('Weights: %1, %2, from %3 (%4). Licence: %5.', name, sizeText, host, source, licence);
}

function paragraph(text: string): HTMLElement {
  const node = document.createElement('p');
  node.textContent = text;
  return node;
}

function paragraphs(...parts: readonly (string | HTMLElement)[]): Widget {
  const body = new Widget();
  for (const part of parts.filter(Boolean)) {
    body.node.append(typeof part === 'string' ? paragraph(part) : part);
  }
  body.addClass('fn-Paragraphs');
  return body;
}

/** Removes an engine after confirmation. */
export async function remove({ engines, trans }: IFoldnote, engine: EngineRecord): Promise<void> {
  const title = trans.__('Remove %1?', engine.method);
  const body = engine.isInstalled
    ? trans.__('Its environment is deleted from this computer. Jobs and results are kept.')
    : trans.__('The partial installation is deleted from this computer.');
  if (await confirmAction(title, body, trans.__('Remove'), trans.__('Cancel'))) {
    await engines.change(engine.name, 'remove');
  }
}
