// Page-side behaviour of a form: sliders beside numbers, marks that restore defaults, files that are dropped, chosen or
// sent by HTTP, and the tree of jobs' files. All decisions are made in the kernel.

const OURS = 'application/vnd.foldnote.value+json';
const CONTENTS = 'application/x-jupyter-icontents';
const MAX_THROUGH_KERNEL = 10e6;
const MAX_LETTERS = 1e6;
const MAX_LOOKED_AT = 5e6;
const PIECE = 4e6;
const PAUSE_MS = 2000;
const DROPS = ['dragenter', 'dragover', 'dragleave', 'drop'];

export default {
  render({ model, el }) {
    const end = new AbortController();
    (function wait() {
      const root = el.isConnected && el.closest('.foldnote-form');
      if (root) {
        new Surface(model, root, end.signal);
      } else if (!end.signal.aborted) {
        requestAnimationFrame(wait);
      }
    })();
    return () => end.abort();
  }
};

class Surface {
  constructor(model, root, signal) {
    this.model = model;
    this.root = root;
    this.config = readConfig();
    root.classList.add('fn-live');
    const observer = new MutationObserver(() => this.furnish());
    observer.observe(root, { childList: true, subtree: true });
    signal.addEventListener('abort', () => observer.disconnect());
    const listen = (type, heard) => root.addEventListener(type, heard, { signal, capture: true });
    listen('click', event => this.click(event));
    listen('pointerdown', event => (this.held = event.target.closest('[data-act]')));
    listen('pointerup', event => this.release(event));
    listen('keydown', event => this.press(event));
    listen('paste', event => this.paste(event));
    listen('toggle', event => this.open(event.target));
    listen('scroll', event => event.target.matches?.('.fn-scroll') && showMore(event.target));
    const sizes = new ResizeObserver(() => root.querySelectorAll('.fn-scroll').forEach(showMore));
    sizes.observe(root);
    signal.addEventListener('abort', () => sizes.disconnect());
    for (const type of DROPS) {
      listen(type, event => this.drop(event, type));
      listen(`lm-${type}`, event => this.drop(event, type));
    }
    // Restores the focus in a redrawn table, however often it is redrawn, until the user moves the focus.
    const leave = ({ type, target }) => {
      if (type === 'pointerdown' || (this.again && !target.matches?.(this.again))) {
        this.again = null;
      }
    };
    for (const type of ['pointerdown', 'focusin']) {
      document.addEventListener(type, leave, { signal, capture: true });
    }
    const hear = (message, buffers) => this.hear(message, buffers);
    model.on('msg:custom', hear);
    signal.addEventListener('abort', () => model.off('msg:custom', hear));
    this.furnish();
  }

  send(message, buffers) {
    this.model.send(message, null, buffers);
  }

  furnish() {
    if (this.again && document.activeElement === document.body) {
      this.root.querySelector(this.again)?.focus({ preventScroll: true });
    }
    for (const mark of this.root.querySelectorAll('.fn-changed:not([role])')) {
      mark.setAttribute('role', 'button');
      mark.tabIndex = 0;
      mark.title = `Reset ${nameOf(mark)}. ${mark.title}`;
      mark.setAttribute('aria-label', mark.title);
    }
    for (const act of this.root.querySelectorAll('.fn-act:not([role])')) {
      act.setAttribute('role', 'button');
      act.tabIndex = 0;
    }
    for (const strip of this.root.querySelectorAll('.fn-letters:not([aria-hidden])')) {
      // the accessible name of a box shall not repeat its letters
      strip.setAttribute('aria-hidden', 'true');
    }
    this.root.querySelectorAll('.fn-scroll').forEach(showMore);
    for (const span of this.root.querySelectorAll('.fn-span')) {
      slide(span);
    }
    for (const field of this.root.querySelectorAll('.foldnote-draws:not(:has(.fn-draw))')) {
      this.offerDrawing(field);
    }
    for (const { lastChild } of this.root.querySelectorAll('.widget-upload')) {
      if (lastChild?.data?.endsWith(' (0)')) {
        lastChild.data = lastChild.data.slice(0, -4);
      }
    }
  }

  click(event) {
    const mark = event.target.closest('.fn-changed[role]');
    const leaf = event.target.closest('[data-path]');
    const upload = event.target.closest('.foldnote-chooser .widget-upload');
    const act = event.target.closest('[data-act]');
    const draw = event.target.closest('.fn-draw');
    const advice = event.target.closest('.fn-act');
    if (mark || leaf || upload || act || draw || advice) {
      event.preventDefault();
      event.stopPropagation();
    }
    if (mark) {
      this.reset(mark);
    } else if (advice) {
      this.act(advice);
    } else if (leaf) {
      const { job, path } = leaf.dataset;
      this.send({ kind: 'jobFile', field: idOf(leaf), job, path });
    } else if (upload) {
      this.choose(upload);
    } else if (draw) {
      this.draw(draw);
    } else if (act) {
      this.changeRow(act);
    }
  }

  // The browser creates no click event if the table was redrawn during the press.
  release(event) {
    const act = this.held?.isConnected === false && event.target.closest(selectorOf(this.held));
    if (act && !act.disabled) {
      this.changeRow(act);
    }
    this.held = null;
  }

  changeRow(act) {
    this.again = selectorOf(act);
    this.send({ kind: 'row', act: act.dataset.act, row: Number(act.dataset.row ?? 0) });
  }

  press(event) {
    const mark = event.target.closest('.fn-changed[role], .fn-act[role]');
    if (mark && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      event.stopPropagation();
      if (mark.matches('.fn-act')) {
        this.act(mark);
      } else {
        this.reset(mark);
      }
    } else if (event.target.closest('.fn-tree') && /^Arrow(Up|Down)$/.test(event.key)) {
      event.preventDefault();
      const all = [...event.target.closest('.fn-tree').querySelectorAll('summary, button')];
      const shown = all.filter(part => part.checkVisibility());
      shown[shown.indexOf(event.target) + (event.key === 'ArrowUp' ? -1 : 1)]?.focus();
    }
  }

  // A one-line box cannot hold line ends: in a file field a multi-line text is the file's contents, elsewhere its lines
  // are items or words.
  paste(event) {
    const box = event.target;
    const text = event.clipboardData?.getData('text/plain').trim() ?? '';
    if (!box.matches?.('input') || !/[\r\n]/.test(text)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (box.matches('.foldnote-drop > .foldnote-path input')) {
      this.send({ kind: 'text', field: idOf(box) }, [new TextEncoder().encode(text)]);
    } else {
      const joint = box.closest('.foldnote-words') ? ', ' : ' ';
      const words = text.split(/[\r\n]+/).map(line => line.trim().replace(/,$/, ''));
      document.execCommand('insertText', false, words.join(joint));
    }
  }

  reset(mark) {
    const field = mark.closest('.foldnote-field');
    this.send({ kind: 'reset', field: /fn-r\d+/.exec(mark.className)[0] });
    field.querySelector('input, textarea, select, button')?.focus();
  }

  act(button) {
    const field = button.closest('.foldnote-field');
    const [, act] = /fn-act-(\w+)/.exec(button.className);
    this.send({ kind: 'act', field: /fn-r\d+/.exec(button.className)[0], act });
    field.querySelector('input, textarea')?.focus();
  }

  open(details) {
    const list = details.open && details.querySelector('.fn-files[data-job]');
    if (list && !list.hasChildNodes()) {
      list.textContent = 'The files are fetched…';
      this.send({ kind: 'open', field: idOf(details), job: list.dataset.job });
    }
  }

  offerDrawing(field) {
    const control = field.querySelector('input, textarea');
    if (!control?.disabled) {
      const label = `Draw ${nameOf(field)}`;
      const button = Object.assign(document.createElement('button'), {
        type: 'button',
        className: 'jupyter-widgets jupyter-button widget-button foldnote-link fn-draw',
        textContent: 'draw…',
        title: `${label} in a structure editor`
      });
      button.setAttribute('aria-label', label);
      field.querySelector('.foldnote-links').append(button);
    }
  }

  draw(button) {
    const field = markOf(button);
    const { version } = window.foldnoteMoleculeEditor ?? {};
    button.setAttribute('aria-busy', 'true');
    this.send({ kind: 'draw', field, place: null, has: version ?? '' });
  }

  // The kernel's first message contains the editor; the page keeps it for all forms.
  async openEditor(message, buffers) {
    const button = this.root.querySelector(`.foldnote-draws.${message.field} .fn-draw`);
    const { kind, script, style, version } = message;
    if (script) {
      const [library, own] = await Promise.all([unpack(buffers[0]).then(importText), importText(script)]);
      window.foldnoteMoleculeEditor = { version, library, style, open: own.open };
    }
    button?.removeAttribute('aria-busy');
    const send = more => this.send({ field: message.field, has: version, ...more });
    window.foldnoteMoleculeEditor.open({ ...window.foldnoteMoleculeEditor, root: this.root, button, send, model: this.model }, message);
  }

  hear(message, buffers) {
    if (message.kind === 'draw' && !document.querySelector('dialog.fn-editor[open]')) {
      void this.openEditor(message, buffers);
    }
    for (const list of this.root.querySelectorAll('.fn-files[data-job]')) {
      if (message.kind === 'files' && list.dataset.job === message.job) {
        list.innerHTML = message.html;
      }
    }
  }

  drop(event, type) {
    const place = event.target.closest?.('.foldnote-drop, .foldnote-batch');
    const { mimeData, dataTransfer } = event;
    const types = mimeData?.types() ?? dataTransfer?.types ?? [];
    const taken = place?.matches('.foldnote-letters') ? [CONTENTS, 'Files'] : [OURS, CONTENTS, 'Files'];
    if (!place || !types.some(known => taken.includes(known))) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    place.classList.toggle('fn-over', type === 'dragenter' || type === 'dragover');
    if (mimeData) {
      event.dropAction = event.proposedAction;
    }
    if (type !== 'drop') {
      return;
    }
    const read = name => mimeData?.getData(name) ?? dataTransfer?.getData(name);
    const single = '.foldnote-letters, .foldnote-file:not(.foldnote-several)';
    const some = list => (place.matches(single) ? list.slice(0, 1) : list);
    const field = idOf(place);
    for (const value of some(taken.includes(OURS) ? listOf(read(OURS)) : [])) {
      this.send({ ...value, field });
    }
    for (const path of some(listOf(types.includes(OURS) ? null : read(CONTENTS)))) {
      this.send({ kind: 'path', path, root: this.config.serverRoot, field });
    }
    for (const file of some([...(dataTransfer?.files ?? [])])) {
      void this.deliver(place, file);
    }
  }

  choose(button) {
    const place = button.closest('.foldnote-drop');
    const input = document.createElement('input');
    input.type = 'file';
    input.accept = place.querySelector('[data-accept]')?.dataset.accept ?? '';
    input.multiple = place.matches('.foldnote-several');
    input.onchange = () => [...input.files].forEach(file => void this.deliver(place, file));
    input.click();
  }

  async deliver(place, file) {
    const field = idOf(place);
    const notice = new Notice(place, file);
    try {
      if (!field) {
        if (file.size > MAX_THROUGH_KERNEL) {
          throw new Error(`${file.name} is too large: ${MAX_THROUGH_KERNEL / 1e6} MB is the most here.`);
        }
        this.send({ kind: 'rows', name: file.name }, [await file.arrayBuffer()]);
      } else if (place.matches('.foldnote-letters')) {
        if (file.size > MAX_LETTERS) {
          throw new Error(`${file.name} is too large: ${MAX_LETTERS / 1e6} MB is the most here.`);
        }
        this.send({ kind: 'content', field, name: file.name }, [await file.arrayBuffer()]);
      } else if (!(await this.sendByHttp(field, file, notice))) {
        await this.sendByKernel(field, file);
      }
      notice.close();
    } catch (fault) {
      if (!notice.signal.aborted) {
        notice.fail(fault.message);
      }
    }
  }

  async sendByHttp(field, file, notice) {
    const profile = this.model.get('profile');
    if (!profile || this.config.baseUrl === undefined) {
      return false;
    }
    const folder = `foldnote-${await digest(file)}`;
    const wish = { name: file.name, folder, sizeBytes: file.size, mark: `${file.lastModified}` };
    const way = new Way(`${this.config.baseUrl}foldnote/api/files/uploads`, profile, this.config, notice);
    let now = await way.ask('POST', '', {}, JSON.stringify(wish));
    if (!now) {
      return false;
    }
    while (now.receivedBytes < file.size) {
      const offset = now.receivedBytes;
      notice.bar.value = offset / file.size;
      now = await way.ask('PUT', `/${now.id}`, { offset }, file.slice(offset, offset + PIECE), `/${now.id}`);
    }
    notice.bar.removeAttribute('value');
    while (now.path === null) {
      now = await way.ask('POST', `/${now.id}/finish`);
    }
    const seen = file.size <= MAX_LOOKED_AT ? [await file.arrayBuffer()] : [];
    this.send({ kind: 'upload', field, name: now.path, size: file.size }, seen);
    return true;
  }

  async sendByKernel(field, file) {
    if (file.size > MAX_THROUGH_KERNEL) {
      const limit = MAX_THROUGH_KERNEL / 1e6;
      throw new Error(`${file.name} is too large: ${limit} MB is the most here. Put it beside the notebook and type its path.`);
    }
    this.send({ kind: 'content', field, name: file.name }, [await file.arrayBuffer()]);
  }
}

class Notice {
  constructor(place, file) {
    const make = (name, more) => Object.assign(document.createElement(name), more);
    this.node = make('div', { className: 'fn-sending' });
    this.name = file.name;
    this.control = new AbortController();
    this.signal = this.control.signal;
    this.words = make('span', {});
    this.say('Sending');
    this.words.setAttribute('role', 'status');
    this.bar = make('progress', { max: 1, value: 0 });
    this.bar.setAttribute('aria-label', `How much of ${file.name} is sent`);
    this.button = make('button', { type: 'button', textContent: 'Cancel' });
    this.button.onclick = () => this.close();
    this.node.append(this.words, this.bar, this.button);
    place.append(this.node);
  }

  say(what) {
    const text = `${what} ${this.name}`;
    if (this.words.textContent !== text) {
      this.words.textContent = text;
    }
  }

  close() {
    this.control.abort();
    this.node.remove();
  }

  fail(sentence) {
    this.bar.remove();
    this.words.textContent = sentence;
    this.words.className = 'fn-error';
    this.words.setAttribute('role', 'alert');
    this.button.textContent = 'Close';
  }
}

// The connection to the server extension; after a failure it waits and retries until sending is cancelled.
class Way {
  constructor(base, profile, config, notice) {
    Object.assign(this, { base, profile, config, notice });
  }

  async ask(method, path, query = {}, body = '{}', recover = null) {
    for (let isFirst = true; ; isFirst = false) {
      try {
        const [how, where] = isFirst || !recover ? [method, path] : ['GET', recover];
        return await this.fetch(how, where, query, how === 'GET' ? undefined : body);
      } catch (fault) {
        if (!(fault instanceof TypeError)) {
          throw fault;
        }
        this.notice.say('Waiting for the connection to send');
        await new Promise(done => setTimeout(done, PAUSE_MS));
      }
    }
  }

  async fetch(method, path, query, body) {
    this.notice.signal.throwIfAborted();
    const text = new URLSearchParams({ ...query, profile: this.profile });
    const headers = { 'X-XSRFToken': /\b_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? '' };
    if (this.config.token) {
      headers.Authorization = `token ${this.config.token}`;
    }
    const { signal } = this.notice;
    const response = await fetch(`${this.base}${path}?${text}`, { method, body, headers, signal });
    this.notice.say('Sending');
    const answer = parse(await response.text());
    if (response.ok) {
      return answer;
    }
    if (response.status === 404 && !answer.error) {
      return null;
    }
    throw new Error(answer.error ?? `The Jupyter server answered ${response.status}.`);
  }
}

async function digest(file) {
  const isSmall = file.size <= 10 * MAX_LOOKED_AT && crypto.subtle;
  const bytes = isSmall
    ? new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()))
    : crypto.getRandomValues(new Uint8Array(6));
  return [...bytes.slice(0, 6)].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

function slide(span) {
  const field = span.closest('.foldnote-number');
  const box = field.querySelector('input[type=text]');
  const [min, max, step, start] = span.title.split(' ');
  let bar = field.querySelector('.fn-bar');
  if (!bar) {
    bar = Object.assign(document.createElement('input'), { type: 'range', className: 'fn-bar', min, max, step });
    bar.setAttribute('aria-label', `${nameOf(field)} on a slider`);
    for (const type of ['input', 'change', 'keydown', 'keypress']) {
      bar.addEventListener(type, event => event.stopPropagation());
    }
    bar.addEventListener('input', () => {
      box.value = bar.value;
      box.dispatchEvent(new Event('input', { bubbles: true }));
    });
    field.addEventListener('input', () => slide(span.isConnected ? span : field.querySelector('.fn-span')));
    field.classList.add('fn-slides');
    field.append(bar);
  }
  const value = box.value.trim() || start;
  const unit = field.querySelector('.fn-unit')?.textContent ?? '';
  bar.value = Number.isFinite(Number(value)) ? value : start;
  bar.disabled = box.disabled;
  bar.style.setProperty('--at', (bar.value - min) / (max - min));
  bar.setAttribute('aria-valuetext', box.value.trim() ? `${value} ${unit}` : 'not set');
  bar.classList.toggle('fn-unset', !box.value.trim());
}

// Marks a table that extends beyond its right edge; the style sheet fades it out there.
function showMore(box) {
  box.classList.toggle('fn-more', box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
}

function nameOf(node) {
  const field = node.closest('.foldnote-field');
  const name = field.querySelector('.fn-name, .widget-label-basic');
  return (name ?? field).textContent.replace('*', '').trim();
}

function selectorOf({ dataset: { act, row } }) {
  return `[data-act=${act}]` + (row ? `[data-row="${row}"]` : '');
}

function idOf(node) {
  return /fn-r\d+/.exec(node.closest('.foldnote-drop')?.className ?? '')?.[0] ?? '';
}

function markOf(node) {
  return /fn-r\d+/.exec(node.closest('.foldnote-draws').className)[0];
}

async function unpack(buffer) {
  const stream = new Blob([buffer]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

async function importText(text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

function listOf(data) {
  const value = data && typeof data === 'string' ? parse(data) : data;
  return Array.isArray(value) ? value : value ? [value] : [];
}

function parse(text) {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return {};
  }
}

function readConfig() {
  return parse(document.getElementById('jupyter-config-data')?.textContent);
}
