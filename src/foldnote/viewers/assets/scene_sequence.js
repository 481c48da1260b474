// The sequence of the visible models: a click on a letter brings the residue into view, and the residue in focus is
// marked. Concatenated with ``scene.js``.
var MOST_LETTERS = 4000;

function makeSequence(view) {
  var scene = view.scene, cells = new Map(), shown = '', chosen = 0, here = null;

  function findId(base, name) { return base[0] + '|' + base[1] + '|' + name; }

  function listBases(viewer) {
    return scene.bases.filter(function (base) { return base[6] && !viewer.getModel(base[0]).hidden; });
  }

  function open() {
    var panel = document.createElement('div');
    panel.className = 'fnv-sequence';
    shown = '';
    return panel;
  }

  // Redrawn only if the visible models have changed.
  function fill() {
    var panel = view.find('sequence'), viewer = view.viewer();
    if (!panel || !viewer) return;
    var bases = listBases(viewer), total = bases.reduce(function (sum, base) { return sum + base[4].length; }, 0);
    var isLong = total > MOST_LETTERS, now = bases.map(function (base) { return base[0] + base[1]; }).join() + (isLong ? chosen : '');
    if (now === shown) return;
    shown = now;
    cells.clear();
    here = null;
    panel.replaceChildren();
    if (isLong) addChoice(panel, 'Chain', bases.map(function (base, place) { return [place, nameChain(base)]; }), chosen, function (value) { chosen = +value; fill(); mark(view.found()); });
    var box = make('div', 'letters', panel);
    box.tabIndex = 0;
    box.setAttribute('role', 'listbox');
    box.setAttribute('aria-label', 'Sequence; the arrow keys move, Enter shows a residue');
    (isLong ? bases.slice(chosen, chosen + 1) : bases).forEach(function (base) { addChain(box, base); });
    box.onclick = function (event) { go(event.target.closest('.fnv-letter')); };
    box.onkeydown = move;
  }

  function nameChain(base) {
    return (new Set(scene.bases.map(function (each) { return each[0]; })).size > 1 && !scene.stack ? scene.models[base[0]].name + ' · ' : '') + 'Chain ' + (base[1] || '(no name)');
  }

  function addChain(box, base) {
    var row = make('div', 'strand', box), ten;
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', nameChain(base));
    make('b', 'strand-name', row).textContent = nameChain(base);
    var marks = scene.marks[base[0]].filter(function (mark) { return mark.chain === base[1]; });
    base[4].forEach(function (name, place) {
      if (place % 10 === 0) {
        ten = make('span', 'ten', row);
        ten.dataset.number = writeNumber(name);
      }
      var cell = make('span', 'letter', ten), number = writeNumber(name), letter = base[6][place] || 'X';
      var region = marks.find(function (mark) { return mark.numbers.indexOf(number) >= 0; });
      cell.textContent = letter;
      cell.title = nameChain(base) + ' · ' + letter + ' ' + number + (region ? ' · ' + region.label : '');
      cell.setAttribute('role', 'option');
      cell.setAttribute('aria-label', cell.title);
      cell.setAttribute('aria-selected', 'false');
      cell.id = 'fnv-letter-' + scene.key.slice(0, 6) + Math.random().toString(36).slice(2, 9);
      if (region) cell.classList.add('fnv-region');
      if (!cells.has(findId(base, name))) cells.set(findId(base, name), cell);
      cell.residue = Object.assign({}, base[2]);
      cell.residue[base[3]] = name;
    });
  }

  function writeNumber(name) { return String(name).replace('^', ''); }

  function go(cell) {
    if (!cell) return;
    step(cell);
    var atom = view.viewer() && view.viewer().selectedAtoms(cell.residue)[0];
    if (atom) view.look(atom);
  }

  function step(cell) {
    if (here) here.classList.remove('fnv-here');
    here = cell;
    here.classList.add('fnv-here');
    view.find('letters').setAttribute('aria-activedescendant', cell.id);
    reveal(cell);
  }

  // The page does not scroll, only the box.
  function reveal(cell) {
    var box = view.find('letters'), outer = box.getBoundingClientRect(), inner = cell.getBoundingClientRect();
    if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 20;
    if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 8;
  }

  function move(event) {
    var all = Array.from(view.find('letters').querySelectorAll('.fnv-letter')), by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[event.key];
    if (event.key === 'Enter' || event.key === ' ') go(here);
    else if (by && all.length) step(all[Math.min(all.length - 1, Math.max(0, here ? all.indexOf(here) + by : 0))]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // ``found`` is the focus: its own atoms and the surrounding ones.
  function mark(found) {
    fill();
    if (!view.find('sequence')) return;
    cells.forEach(function (cell) { cell.setAttribute('aria-selected', 'false'); cell.classList.remove('fnv-around'); });
    if (!found) return;
    var cellOf = function (atom) {
      var base = scene.bases.find(function (each) { return each[0] === atom.model && each[1] === findOrigin(atom); });
      return base && cells.get(findId(base, atom[base[3]]));
    };
    found.near.forEach(function (atom) { var cell = cellOf(atom); if (cell) cell.classList.add('fnv-around'); });
    var own = found.own.map(cellOf).filter(Boolean);
    own.forEach(function (cell) { cell.setAttribute('aria-selected', 'true'); });
    if (own.length) reveal(own[0]);
  }

  return {
    open: open,
    mark: mark,
    hasLetters: scene.bases.some(function (base) { return base[6]; })
  };
}
