// Distances, angles and torsions between clicked atoms. Concatenated with ``scene.js``.
var MEASURES = {
  distance: { atoms: 2, word: 'Distance', unit: ' Å' }, angle: { atoms: 3, word: 'Angle', unit: '°' }, torsion: { atoms: 4, word: 'Torsion', unit: '°' }
};
var MEASURED = '#c98a00';

function minus(a, b) { return [a.x - b.x, a.y - b.y, a.z - b.z]; }
function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
function cross(a, b) { return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]; }

// Å for two atoms, degrees for three (0 to 180) and four (IUPAC's sign, -180 to 180).
function measureAtoms(atoms) {
  if (atoms.length === 2) return measureApart(atoms[0], atoms[1]);
  if (atoms.length === 3) {
    var one = minus(atoms[0], atoms[1]), other = minus(atoms[2], atoms[1]), turn = cross(one, other);
    return Math.atan2(Math.hypot.apply(null, turn), dot(one, other)) * 180 / Math.PI;
  }
  var first = minus(atoms[1], atoms[0]), middle = minus(atoms[2], atoms[1]), last = minus(atoms[3], atoms[2]);
  var left = cross(first, middle), right = cross(middle, last);
  return Math.atan2(dot(first, right) * Math.hypot.apply(null, middle), dot(left, right)) * 180 / Math.PI;
}

function writeMeasure(kind, atoms) {
  return measureAtoms(atoms).toFixed(kind === 'distance' ? 2 : 1).replace('-', '−') + MEASURES[kind].unit;
}

function nameAtom(atom) {
  var who = atom.atom || atom.elem;
  return (atom.resn ? (atom.chain ? atom.chain + ' ' : '') + atom.resn + ' ' + atom.resi + (atom.icode || '').trim() + ' ' : '') + who;
}

function makeMeasures(view) {
  var isOn = false, kind = 'distance', picked = [], kept = [], shapes = [], tags = [];

  function paint(viewer) {
    shapes.forEach(function (one) { viewer.removeShape(one); });
    tags.forEach(function (one) { viewer.removeLabel(one); });
    shapes = [];
    tags = [];
    kept.forEach(function (one) {
      label(viewer, writeMeasure(one.kind, one.atoms), one.atoms);
      one.atoms.forEach(function (atom) { mark(viewer, atom); });
    });
    picked.forEach(function (atom) { mark(viewer, atom); });
    shapes = shapes.concat(drawLines(viewer, listLines()));
    fill();
  }

  // Labels are separate, since the label of an angle is not at the midpoint of a line.
  function listLines() {
    return [].concat.apply([], kept.map(function (one) {
      return one.atoms.slice(1).map(function (atom, place) { return [listPlace(one.atoms[place]), listPlace(atom), '', MEASURED]; });
    }));
  }

  // The label is at the midpoint of a distance, at the vertex of an angle, at the midpoint of a torsion's bond.
  function label(viewer, text, atoms) {
    var inner = atoms.length > 2 ? atoms.slice(1, -1) : atoms, middle = { x: 0, y: 0, z: 0 };
    inner.forEach(function (atom) { 'xyz'.split('').forEach(function (axis) { middle[axis] += atom[axis] / inner.length; }); });
    tags.push(viewer.addLabel(text, Object.assign({ position: middle }, TAG)));
  }

  // The structure is not redrawn for a measurement.
  function update() {
    var viewer = view.viewer();
    if (!viewer) return view.repaint();
    withoutDrawing(viewer, function () { paint(viewer); });
    viewer.render();
  }

  function mark(viewer, atom) {
    shapes.push(viewer.addSphere({ center: { x: atom.x, y: atom.y, z: atom.z }, radius: 0.35, color: MEASURED, opacity: 0.85 }));
  }

  function pick(atom) {
    if (picked.indexOf(atom) >= 0) picked.splice(picked.indexOf(atom), 1); else picked.push(atom);
    if (picked.length === MEASURES[kind].atoms) {
      kept.push({ kind: kind, atoms: picked });
      picked = [];
    }
    update();
  }

  function open() {
    var panel = document.createElement('div');
    panel.className = 'fnv-measure';
    panel.setAttribute('role', 'group');
    panel.setAttribute('aria-label', 'Measure');
    addChoice(panel, 'Quantity to measure', Object.keys(MEASURES).map(function (key) { return [key, MEASURES[key].word]; }), kind, function (value) { kind = value; picked = []; update(); });
    make('output', 'told', panel);
    addButton(panel, 'Clear', 'Remove all measurements', function () { kept = []; picked = []; view.stage.focus(); update(); });
    make('ul', 'measured', panel);
    isOn = true;
    return panel;
  }

  function fill() {
    var panel = view.find('measure');
    if (!panel) return;
    var left = MEASURES[kind].atoms - picked.length;
    panel.querySelector('.fnv-told').textContent = picked.length
      ? picked.map(nameAtom).join(' – ') + ' – click ' + (left === 1 ? '1 more atom' : left + ' more atoms')
      : 'Click ' + left + ' atoms in the picture; in a cartoon, a click takes the Cα. Escape ends.';
    panel.querySelector('button').disabled = !kept.length && !picked.length;
    panel.querySelector('.fnv-measured').replaceChildren.apply(panel.querySelector('.fnv-measured'), kept.map(function (one, place) {
      var item = document.createElement('li'), value = document.createElement('b');
      value.textContent = writeMeasure(one.kind, one.atoms);
      item.append(MEASURES[one.kind].word + ' ', value, ' ' + one.atoms.map(nameAtom).join(' – ') + ' ');
      addButton(item, 'Remove', 'Remove this measurement', function () { kept.splice(place, 1); view.stage.focus(); update(); }).ariaLabel = 'Remove measurement ' + (place + 1);
      return item;
    }));
  }

  return {
    paint: paint,
    open: open,
    fill: fill,
    pick: pick,
    isOn: function () { return isOn; },
    forget: function () { shapes = []; tags = []; },
    lines: listLines,
    close: function () { isOn = false; picked = []; update(); },
    // Escape first deselects the clicked atoms, then leaves the mode.
    back: function () {
      if (!picked.length) return false;
      picked = [];
      update();
      return true;
    }
  };
}
