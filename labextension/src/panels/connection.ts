/**
 * The form of a new connection. The key is sent from its field to the server and then discarded; it is never part of
 * states, logs or answers.
 */
import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { LabApi } from '../api/lab';
import { sentenceOf } from '../models/text';
import type { Trans } from '../models/words';

interface ConnectionInput {
  readonly name: string;
  readonly url: string;
  readonly key: string;
}

/**
 * Asks for a connection, tests it, and lets the server store it.
 *
 * @returns the name of the profile; null if cancelled
 */
export async function askConnection(
  api: LabApi,
  trans: Trans,
  before: Omit<ConnectionInput, 'key'> = { name: '', url: '' },
  fault = ''
): Promise<string | null> {
  const { button, value } = await showDialog({
    title: trans.__('Connect to a service'),
    body: new ConnectionForm(trans, before, fault),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.okButton({ label: trans.__('Test and store') })
    ],
    focusNodeSelector: before.url === '' ? 'input' : 'input[type=password]'
  });
  if (!button.accept || !value) {
    return null;
  }
  const complaint = await tryConnection(api, value);
  return complaint === null ? value.name : askConnection(api, trans, value, complaint);
}

/** Returns why the connection cannot be used; null if it was stored. */
async function tryConnection(api: LabApi, given: ConnectionInput): Promise<string | null> {
  try {
    const verdict = await api.connect(given);
    return verdict.isGood ? null : verdict.message;
  } catch (error) {
    return sentenceOf(error);
  }
}

class ConnectionForm extends Widget implements Dialog.IBodyWidget<ConnectionInput> {
  constructor(trans: Trans, { name, url }: Omit<ConnectionInput, 'key'>, fault: string) {
    super();
    this.addClass('fn-ConnectionForm');
    this.name = this.addField(trans.__('Profile name'), 'text', name, 'lab');
    this.url = this.addField(trans.__('Service address'), 'url', url, 'https://jobs.example.org/v1');
    this.key = this.addField(trans.__('API key'), 'password', '', '');
    const note = this.node.appendChild(document.createElement('p'));
    note.textContent = trans.__('The key is stored on the computer that runs Jupyter and is never shown again.');
    if (fault !== '') {
      const alert = this.node.appendChild(document.createElement('p'));
      alert.className = 'fn-JobRow-error fn-mod-whole';
      alert.setAttribute('role', 'alert');
      alert.textContent = fault;
    }
  }

  /** Returns the input, and clears the key's field. */
  getValue(): ConnectionInput {
    const given = { name: this.name.value.trim(), url: this.url.value.trim(), key: this.key.value.trim() };
    this.key.value = '';
    return given;
  }

  private addField(label: string, type: string, value: string, placeholder: string): HTMLInputElement {
    const row = this.node.appendChild(document.createElement('label'));
    row.append(label);
    const input = row.appendChild(document.createElement('input'));
    input.type = type;
    input.value = value;
    input.placeholder = placeholder;
    input.autocomplete = 'off';
    input.spellcheck = false;
    input.className = 'jp-mod-styled';
    return input;
  }

  private readonly name: HTMLInputElement;
  private readonly url: HTMLInputElement;
  private readonly key: HTMLInputElement;
}
