// What a reader looks at closely: a residue and what is around it, or an interface. It stands around ``scene.js``.
var NEAR_A = 5, FOCUS = '#d6006e';

function nameResidue(atom) {
  return atom.resn + ' ' + atom.resi + (atom.icode || '').trim() + (atom.chain ? ' of chain ' + atom.chain : '');
}

function findKey(atom) { return [atom.model, atom.chain, atom.resi, atom.icode || '', atom.resn].join('|'); }

// The atoms of a residue, and of the residues with a heavy atom at most NEAR_A from one of its own.
function listSurroundings(atoms, key) {
  var own = atoms.filter(function (atom) { return findKey(atom) === key; }), heavy = own.filter(isHeavy), near = {};
  if (!own.length) return { own: own, near: [], count: 0 };
  var low = {}, high = {};
  'xyz'.split('').forEach(function (axis) {
    var values = own.map(function (atom) { return atom[axis]; });
    low[axis] = Math.min.apply(null, values) - NEAR_A;
    high[axis] = Math.max.apply(null, values) + NEAR_A;
  });
  atoms.forEach(function (atom) {
    if (atom.x < low.x || atom.x > high.x || atom.y < low.y || atom.y > high.y || atom.z < low.z || atom.z > high.z || !isHeavy(atom)) return;
    if (heavy.some(function (mine) { return Math.hypot(mine.x - atom.x, mine.y - atom.y, mine.z - atom.z) <= NEAR_A; })) near[findKey(atom)] = true;
  });
  delete near[key];
  return { own: own, near: atoms.filter(function (atom) { return near[findKey(atom)]; }), count: Object.keys(near).length };
}

function isHeavy(atom) { return atom.elem !== 'H' && atom.elem !== 'D'; }

// Atoms as selections, one for each model.
function selectAtoms(atoms) {
  var models = {};
  atoms.forEach(function (atom) { (models[atom.model] = models[atom.model] || []).push(atom.index); });
  return Object.keys(models).map(function (model) { return { model: +model, index: models[model] }; });
}

// ``view`` has the scene, the live viewer, the atoms that are seen, and what paints and moves the camera.
function makeFocus(view) {
  var now = null, shapes = [];

  function paint(viewer) {
    shapes.forEach(function (one) { viewer.removeShape(one); });
    shapes = [];
    if (!now) return say('');
    if (now.interface !== undefined) return paintInterface(viewer, view.scene.interfaces[now.interface]);
    var found = listSurroundings(view.listSeen(), now.residue);
    if (!found.own.length) return say('');
    now.target = selectAtoms(found.own.concat(found.near));
    selectAtoms(found.near).forEach(function (who) { viewer.addStyle(who, stick({ color: view.scene.touched })); });
    selectAtoms(found.own).forEach(function (who) { viewer.addStyle(who, { stick: Object.assign(stick({ color: FOCUS }).stick, { radius: 0.24 }) }); });
    say(nameResidue(found.own[0]) + ': ' + (found.count === 1 ? '1 residue' : found.count + ' residues') + ' within ' + NEAR_A + ' Å');
  }

  function paintInterface(viewer, one) {
    now.target = one.targets;
    one.targets.forEach(function (who, side) { viewer.addStyle(who, stick({ color: one.colors[side] })); });
    // Many lengths at one place hide what they are about.
    var isFew = one.lines.length + one.bridges.length <= 8;
    shapes = drawLines(viewer, one.lines.concat(one.bridges).map(function (line) {
      return isFew ? line : [line[0], line[1], '', line[3]];
    }));
    say(one.label);
  }

  function say(text) {
    var bar = view.find('focus');
    if (!text) return bar && bar.remove();
    if (!bar) {
      bar = make('div', 'focus', view.root);
      bar.setAttribute('role', 'status');
      make('span', 'told', bar);
      addButton(bar, 'Close', 'Leave the close view (Escape)', function () { view.stage.focus(); set(null); });
      view.stage.after(bar);
    }
    bar.firstChild.textContent = text;
  }

  function set(wanted) {
    now = wanted;
    view.root.querySelectorAll('.fnv-interfaces tr').forEach(function (row, index) { row.classList.toggle('fnv-chosen', !!now && now.interface === index - 1); });
    view.repaint().then(function () {
      if (now && now.target) view.fly(now.target.length > 1 ? { or: now.target } : now.target[0], 0.9);
    });
  }

  return {
    paint: paint,
    clear: function () { if (now) set(null); },
    isOn: function () { return !!now; },
    forget: function () { shapes = []; },
    residue: function (atom) { set({ residue: findKey(atom) }); },
    interface: function (index) { set({ interface: index }); }
  };
}
