// The dialog in which a molecule is drawn. The kernel converts between molfiles and SMILES and reports errors.

const COLOURS = ['text', 'page', 'soft', 'line', 'rule', 'sunk', 'input', 'accent', 'wrong', 'warn'];
const PAUSE_MS = 200;
// OpenChemLib's toolbar, column by column
const TOOLS = [
  ['Clear', 'Clean up the layout', 'Select', 'Unknown configuration', 'Erase', 'Bond; again for a double one', 'Bond to the front'],
  ['Ring of 3', 'Ring of 5', 'Ring of 7', 'Positive charge', 'Carbon', 'Nitrogen', 'Oxygen', 'Fluorine', 'Bromine', 'Hydrogen'],
  ['Undo', 'Zoom and rotate by dragging', 'Map atoms of a reaction', 'Absolute or relative configuration', 'Text', 'Chain'],
  ['Bond to the back', 'Ring of 4', 'Ring of 6', 'Benzene', 'Negative charge', 'Silicon', 'Phosphorus', 'Sulfur'],
  ['Chlorine', 'Iodine', 'Any other atom']
].flat();

export function open(page, message) {
  new Editor(page).show(message);
}

function make(name, more = {}, ...children) {
  const node = Object.assign(document.createElement(name), more);
  node.append(...children);
  return node;
}

class Editor {
  constructor(page) {
    Object.assign(this, page);
    this.turn = 0;
    this.dialog = make('dialog', { className: 'fn-editor' });
    // disables JupyterLab's single-letter shortcuts: in the editor the letters are names of atoms
    this.dialog.dataset.lmSuppressShortcuts = 'true';
    const look = getComputedStyle(this.root);
    for (const name of COLOURS) {
      this.dialog.style.setProperty(`--fn-${name}`, look.getPropertyValue(`--fn-${name}`));
    }
    this.dialog.style.fontFamily = look.fontFamily;
  }

  show(message) {
    if (message.missing) {
      this.showMissing(message.missing);
      return;
    }
    this.build(message);
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.dialog.classList.toggle('fn-dark', isDark(getComputedStyle(this.dialog).backgroundColor));
    this.editor = new this.library.CanvasEditor(this.sheet);
    this.name();
    this.editor.setOnChangeListener(event => event.isUserEvent && event.type === 'molecule' && this.drawn());
    this.hear = (heard, _buffers) => this.receive(heard);
    this.model.on('msg:custom', this.hear);
    this.begin(message);
    this.sheet.firstChild.shadowRoot.querySelector('div > canvas').focus();
  }

  showMissing(sentence) {
    const close = make('button', { type: 'button', textContent: 'Close' });
    close.onclick = () => this.close();
    this.dialog.append(make('style', { textContent: this.style ?? '' }), make('p', { textContent: sentence }), close);
    document.body.append(this.dialog);
    this.dialog.showModal();
  }

  build({ title, choices }) {
    this.choice = make('select');
    this.choice.setAttribute('aria-label', 'Molecule');
    this.choice.append(make('option', { value: '', textContent: 'New molecule' }));
    choices.forEach((label, place) => this.choice.append(make('option', { value: place, textContent: label })));
    this.choice.onchange = () => this.ask();
    this.heading = make('h2', { textContent: `Draw: ${title}`, id: 'fn-editor-title' });
    this.dialog.setAttribute('aria-labelledby', this.heading.id);
    const head = make('header', {}, this.heading);
    if (choices.length) {
      head.append(make('label', {}, 'Molecule ', this.choice));
    }
    this.sheet = make('div', { className: 'fn-sheet' });
    this.text = make('input', { type: 'text', spellcheck: false, autocomplete: 'off', placeholder: 'e.g. CC(=O)Oc1ccccc1C(=O)O' });
    this.text.oninput = () => this.typed();
    this.words = make('p', { className: 'fn-words' });
    this.words.setAttribute('role', 'status');
    this.cancel = make('button', { type: 'button', textContent: 'Cancel' });
    this.cancel.onclick = () => this.close();
    this.use = make('button', { type: 'submit', className: 'fn-use', textContent: 'Use molecule', disabled: true });
    const line = make('label', { className: 'fn-smiles' }, 'SMILES ', this.text);
    const buttons = make('div', { className: 'fn-buttons' }, this.cancel, this.use);
    const foot = make('footer', {}, this.words, buttons);
    const form = make('form', { method: 'dialog' }, head, this.sheet, line, foot);
    form.onsubmit = event => {
      event.preventDefault();
      this.take();
    };
    this.dialog.append(make('style', { textContent: this.style }), form);
    this.dialog.addEventListener('keydown', event => event.stopPropagation());
    this.dialog.addEventListener('cancel', event => {
      // ignores events of the editor's own dialogs
      if (event.target === this.dialog) {
        event.preventDefault();
        this.leave();
      }
    });
  }

  // Adds accessible names to what the library draws on canvases.
  name() {
    const [tools, area] = this.sheet.firstChild.shadowRoot.querySelectorAll('canvas');
    tools.setAttribute('role', 'img');
    tools.setAttribute('aria-label', 'Drawing tools, for the mouse. Without one, type the text below the drawing.');
    tools.addEventListener('pointermove', ({ offsetX, offsetY }) => {
      const row = Math.floor((17 * offsetY) / tools.clientHeight);
      tools.title = TOOLS[row + (offsetX < tools.clientWidth / 2 ? 0 : 17)] ?? '';
    });
    area.setAttribute('role', 'application');
    area.setAttribute('aria-label', 'Drawing of the molecule');
    this.area = area;
  }

  begin(message) {
    this.place = message.place;
    this.choice.value = message.place ?? '';
    this.isChanged = false;
    this.hasWarned = false;
    this.result = '';
    this.text.value = message.smiles;
    this.draw(message.molfile);
    if (message.molfile) {
      this.original = message.smiles;
      this.request({ molfile: this.editor.getMolecule().toMolfile(), original: message.smiles });
    } else {
      this.say(message.fault || 'Draw a molecule, or type its SMILES.', Boolean(message.fault));
    }
  }

  draw(molfile) {
    const { Molecule } = this.library;
    this.editor.setMolecule(molfile ? Molecule.fromMolfile(molfile) : new Molecule(0, 0));
  }

  ask() {
    this.send({ kind: 'draw', place: this.choice.value === '' ? null : Number(this.choice.value) });
  }

  drawn() {
    this.change(() => this.request({ molfile: this.editor.getMolecule().toMolfile() }));
  }

  typed() {
    this.change(() => this.request({ smiles: this.text.value }));
  }

  change(ask) {
    this.isChanged = true;
    this.hasWarned = false;
    this.use.disabled = true;
    this.choice.disabled = true;
    this.choice.title = 'Use or cancel this drawing first';
    this.turn += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(ask, PAUSE_MS);
  }

  request(more) {
    this.turn += 1;
    this.send({ kind: 'drawing', turn: this.turn, ...more });
  }

  receive(message) {
    if (message.kind === 'draw' && !this.isChanged) {
      this.begin(message);
    } else if (message.kind === 'drawing' && message.turn === this.turn) {
      this.judged(message);
    }
  }

  judged({ smiles, molfile, words, fault, caution }) {
    if (molfile !== undefined) {
      this.draw(molfile);
    } else if (this.isChanged) {
      this.text.value = smiles;
    }
    this.result = fault ? '' : smiles;
    this.use.disabled = !this.result;
    this.say(fault || caution || words || 'Draw a molecule, or type its SMILES.', Boolean(fault), Boolean(caution));
    // a drawing that does not show the whole SMILES replaces it only if the user confirms
    this.isLossy = Boolean(caution);
  }

  say(words, isWrong = false, isCaution = false) {
    this.words.textContent = words;
    this.words.classList.toggle('fn-wrong', isWrong);
    this.words.classList.toggle('fn-caution', isCaution);
  }

  take() {
    if (!this.result) {
      return;
    }
    if (this.isChanged || this.isLossy) {
      this.send({ kind: 'useDrawing', place: this.place, smiles: this.result });
    }
    this.close();
  }

  // Escape: asks before a drawing is discarded.
  leave() {
    if (this.isChanged && !this.hasWarned) {
      this.hasWarned = true;
      this.say('Press Escape again to discard the drawing.', false, true);
    } else {
      this.close();
    }
  }

  close() {
    clearTimeout(this.timer);
    this.model.off('msg:custom', this.hear);
    this.dialog.close();
    this.editor?.destroy();
    this.dialog.remove();
    const { button } = this;
    (button?.isConnected ? button : this.root.querySelector('.fn-draw'))?.focus();
  }
}

function isDark(colour) {
  const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return red + green + blue < 384;
}
