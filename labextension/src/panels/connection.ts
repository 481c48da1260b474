/**
 * The form of a new connection. The key is sent from its field to the server and then discarded; it is never part of
 * states, logs or responses.
 */
import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { LabApi, NewConnection } from '../api/lab';
import { messageOf } from '../models/formatting/text';
import type { Trans } from '../models/translation';

/**
 * Asks for a connection, tests it, and lets the server store it.
 *
 * @returns the name of the profile; null if cancelled
 */
export async function askConnection(
  api: LabApi,
  trans: Trans,
  defaults: Omit<NewConnection, 'key'> = { name: '', url: '' },
  alertText = ''
): Promise<string | null> {
  const { button, value } = await showDialog({
    title: trans.__('Connect to a service'),
    body: new ConnectionForm(trans, defaults, alertText),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.okButton({ label: trans.__('Test and store') })
    ],
    focusNodeSelector: defaults.url === '' ? 'input' : 'input[type=password]'
  });
  if (!button.accept || !value) {
    return null;
  }
  const failure = await tryConnection(api, value);
  return failure === null ? value.name : askConnection(api, trans, value, failure);
}

/** Returns why the connection cannot be used; null if it was stored. */
async function tryConnection(api: LabApi, input: NewConnection): Promise<string | null> {
  try {
    const verdict = await api.connect(input);
    return verdict.isGood ? null : verdict.message;
  } catch (error) {
    return messageOf(error);
  }
}

class ConnectionForm extends Widget implements Dialog.IBodyWidget<NewConnection> {
  constructor(trans: Trans, { name, url }: Omit<NewConnection, 'key'>, alertText: string) {
    super();
    this.addClass('fn-ConnectionForm');
    this.name = this.addField(trans.__('Profile name'), 'text', name, 'lab');
    this.url = this.addField(trans.__('Service address'), 'url', url, 'https://jobs.example.org/v1');
    this.key = this.addField(trans.__('API key'), 'password', '', '');
    const note = this.node.appendChild(document.createElement('p'));
    note.textContent = trans.__('The key is stored on the computer that runs Jupyter and is never shown again.');
    if (alertText !== '') {
      const alert = this.node.appendChild(document.createElement('p'));
      alert.className = 'fn-JobRow-error fn-mod-whole';
      alert.setAttribute('role', 'alert');
      alert.textContent = alertText;
    }
  }

  /** Returns the input, and clears the key's field. */
  getValue(): NewConnection {
    const input = { name: this.name.value.trim(), url: this.url.value.trim(), key: this.key.value.trim() };
    this.key.value = '';
    return input;
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
