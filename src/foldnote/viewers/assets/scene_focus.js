// The close-up of a residue and its surroundings, in the visible model, or of an interface. Concatenated with
// ``scene.js``.
var NEAR_A = 5, FOCUS = '#d6006e';

function nameResidue(atom) {
  return atom.resn + ' ' + atom.resi + (atom.icode || '').trim() + (atom.chain ? ' of chain ' + atom.chain : '');
}

function findKey(atom) { return [atom.model, atom.chain, atom.resi, atom.icode || '', atom.resn].join('|'); }

// The atoms of a residue, and of the residues with a heavy atom within NEAR_A of one of its atoms.
function listSurroundings(atoms, key) {
  var own = atoms.filter(function (atom) { return findKey(atom) === key; }), heavy = own.filter(isHeavy), near = {};
  var low = {}, high = {}, axes = ['x', 'y', 'z'];
  axes.forEach(function (axis) {
    var values = own.map(function (atom) { return atom[axis]; });
    low[axis] = Math.min.apply(null, values) - NEAR_A;
    high[axis] = Math.max.apply(null, values) + NEAR_A;
  });
  atoms.forEach(function (atom) {
    if (!isHeavy(atom) || axes.some(function (axis) { return atom[axis] < low[axis] || atom[axis] > high[axis]; })) return;
    if (heavy.some(function (mine) { return measureApart(mine, atom) <= NEAR_A; })) near[findKey(atom)] = true;
  });
  delete near[key];
  return { own: own, near: atoms.filter(function (atom) { return near[findKey(atom)]; }), count: Object.keys(near).length };
}

// Atoms as selections, one per model.
function selectAtoms(atoms) {
  var models = {};
  atoms.forEach(function (atom) { (models[atom.model] = models[atom.model] || []).push(atom.index); });
  return Object.keys(models).map(function (model) { return { model: +model, index: models[model] }; });
}

// ``view`` provides the scene, the live viewer, the visible atoms, and functions that paint and move the camera.
function makeFocus(view) {
  var now = null, shapes = [], lines = [], found = null, areNamed = { residue: true, interface: false };

  function paint(viewer) {
    shapes.forEach(function (one) { viewer.removeShape(one); });
    shapes = [];
    lines = [];
    found = null;
    if (!now) return say('');
    if (now.interface !== undefined) return paintInterface(viewer, view.scene.interfaces[now.interface]);
    var atoms = view.listSeen(), place = now.residue.indexOf('|'), twin = atoms.find(function (atom) { return findKey(atom) === now.residue; })
      || atoms.find(function (atom) { return findKey(atom).replace(/^\d+/, '') === now.residue.slice(place); });
    if (twin) now.residue = findKey(twin);
    found = listSurroundings(atoms, now.residue);
    if (!found.own.length) return say('');
    now.target = selectAtoms(found.own.concat(found.near));
    selectAtoms(found.near).forEach(function (who) { viewer.addStyle(who, stick({ color: view.scene.touched })); });
    selectAtoms(found.own).forEach(function (who) { viewer.addStyle(who, { stick: Object.assign(stick({ color: FOCUS }).stick, { radius: 0.24 }) }); });
    if (view.scene.bases.some(function (base) { return base[0] === found.own[0].model && base[5].beads; })) {
      return say(nameResidue(found.own[0]) + '. One atom of each residue is drawn here, so that its contacts are not known.', 'residue', [], []);
    }
    var bonds = listBonds(found.own, found.near, view.scene.rules);
    lines = bonds.map(function (one) {
      return [listPlace(one.own), listPlace(one.other), areNamed.residue ? '' : one.distance.toFixed(1) + ' Å', one.isBridge ? view.scene.rules.bridgeColor : view.scene.rules.bondColor];
    });
    shapes = drawLines(viewer, lines);
    if (areNamed.residue) nameAll(viewer, found.own.concat(found.near));
    var bridges = new Set(bonds.filter(function (one) { return one.isBridge; }).map(function (one) { return findKey(one.other); })).size;
    var parts = [countWord(found.count, 'residue') + ' within ' + NEAR_A + ' Å', countWord(bonds.filter(function (one) { return one.isBond; }).length, 'hydrogen bond'), countWord(bridges, 'salt bridge')];
    say(nameResidue(found.own[0]) + ': ' + parts.join(', '), 'residue', bonds, listNearest(found.own, found.near));
  }

  function countWord(count, word) { return count + ' ' + word + (count === 1 ? '' : 's'); }

  // A tag at the Cα, C4' or first atom of each residue.
  function nameAll(viewer, atoms) {
    var tagged = {};
    atoms.forEach(function (atom) {
      var key = findKey(atom);
      if (!tagged[key] || atom.atom === 'CA' || atom.atom === "C4'") tagged[key] = atom;
    });
    Object.values(tagged).forEach(function (atom) {
      viewer.addLabel(atom.resn + ' ' + atom.resi + (atom.icode || '').trim(), Object.assign({ position: { x: atom.x, y: atom.y, z: atom.z } }, TAG));
    });
  }

  function paintInterface(viewer, one) {
    now.target = one.targets;
    one.targets.forEach(function (who, side) { viewer.addStyle(who, stick({ color: one.colors[side] })); });
    // Many distances at one place would hide the residues.
    var isFew = one.lines.length + one.bridges.length <= 8;
    lines = one.lines.concat(one.bridges).map(function (line) { return isFew ? line : [line[0], line[1], '', line[3]]; });
    shapes = drawLines(viewer, lines);
    if (areNamed.interface) nameAll(viewer, viewer.selectedAtoms({ or: one.targets }));
    say(one.label, 'interface', [], []);
  }

  function say(text, kind, bonds, nearest) {
    var bar = view.find('focus');
    if (!text) return bar && bar.remove();
    if (!bar) {
      bar = make('div', 'focus', view.root);
      bar.setAttribute('role', 'status');
      make('span', 'told', bar);
      addTick(bar, 'Names', false, function (isOn) { areNamed[bar.dataset.kind] = isOn; view.repaint(); });
      addButton(bar, 'Close', 'Leave the close view (Escape)', function () { view.stage.focus(); set(null); });
      (view.find('sequence') || view.stage).after(bar);
    }
    bar.firstChild.textContent = text;
    bar.dataset.kind = kind;
    bar.querySelector('input').checked = areNamed[kind];
    bar.querySelectorAll('ul, .fnv-nearest').forEach(function (one) { one.remove(); });
    if (bonds.length) bonds.forEach(function (one, place) {
      var list = place ? bar.querySelector('ul') : make('ul', 'bonds', bar), item = list.appendChild(document.createElement('li'));
      item.textContent = nameAtom(one.own) + ' – ' + nameAtom(one.other) + ' ' + one.distance.toFixed(1) + ' Å, ' + [one.isBond && 'hydrogen bond', one.isBridge && 'salt bridge'].filter(Boolean).join(' and ');
    });
    if (nearest.length) make('p', 'nearest', bar).textContent = 'Nearest: ' + nearest.map(function (one) { return (one[0].chain + ' ' + one[0].resn + ' ' + one[0].resi + (one[0].icode || '')).trim() + ' (' + one[1].toFixed(1) + ' Å)'; }).join(', ');
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
    lines: function () { return lines; },
    found: function () { return now && now.interface === undefined ? found : null; },
    residue: function (atom) { set({ residue: findKey(atom) }); },
    interface: function (index) { set({ interface: index }); }
  };
}
