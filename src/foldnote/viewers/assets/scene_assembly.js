// The biological assemblies of a file: its chains, copied by the operations in the file. Concatenated with
// ``scene.js``.
function makeAssembly(view) {
  var scene = view.scene, now = -1, moved = new Set();

  function isPartOf(part, atom) {
    return (atom.chain || '').trim() === part[0] && (!part[1] || part[1].indexOf(atom.resi + (atom.icode || '').trim()) >= 0);
  }

  function place(by, atom) {
    var at = function (row) { return by[row] * atom.x + by[row + 1] * atom.y + by[row + 2] * atom.z + by[row + 3]; };
    return { x: at(0), y: at(4), z: at(8) };
  }

  function isStill(by) { return by.every(function (value, index) { return value === +(index % 5 === 0); }); }

  // The first copy of a chain is the chain itself; the second copy of chain A is A-2, whose atoms refer to their
  // originals in A.
  function build(model) {
    moved.clear();
    if (now < 0) return;
    var parts = scene.assemblies[now][3], groups = [];
    var lost = model.selectedAtoms({}).filter(function (atom) { return !parts.some(function (part) { return isPartOf(part, atom); }); });
    if (lost.length) model.removeAtoms(lost);
    scene.bases.forEach(function (base) { if (!parts.some(function (part) { return part[0] === base[1] && part[2][0][0] === 1; })) moved.add(base[1]); });
    parts.forEach(function (part) {
      var own = model.selectedAtoms({}).filter(function (atom) { return isPartOf(part, atom); });
      part[2].forEach(function (copy) {
        if (copy[0] > 1) groups.push(own.map(function (atom) { return Object.assign({}, atom, place(copy[1], atom), { chain: part[0] + '-' + copy[0], origin: part[0], twin: atom.index }); }));
      });
      if (part[2][0][0] > 1 || isStill(part[2][0][1])) return;
      moved.add(part[0]);
      own.forEach(function (atom) { Object.assign(atom, place(part[2][0][1], atom)); });
    });
    groups.forEach(function (group) { model.addAtoms(group); });
  }

  // Copies look like their originals.
  function paint(viewer) {
    if (now < 0) return;
    var model = viewer.getModel(0), atoms = model.selectedAtoms({});
    atoms.forEach(function (atom) { if (atom.origin !== undefined) atom.style = Object.assign({}, atoms[atom.twin].style); });
  }

  // Selections of one chain and of its copies.
  function list(who) {
    var part = now < 0 ? null : scene.assemblies[now][3].filter(function (each) { return each[0] === who.chain; });
    if (!part) return [who];
    var numbers = [].concat.apply([], part.map(function (each) { return each[2].map(function (copy) { return copy[0]; }); }));
    return Array.from(new Set(numbers)).map(function (number) { return number > 1 ? Object.assign({}, who, { chain: who.chain + '-' + number }) : who; });
  }

  function choose(index) {
    now = index;
    tell();
    return view.rebuild();
  }

  function tell() {
    var line = view.find('assembly'), one = scene.assemblies[now];
    line.textContent = one ? one[0] + ', ' + one[1].toLocaleString('en') + ' atoms. Legend, interfaces and summary describe what the file itself holds.' : '';
    view.find('assemblies').value = now;
  }

  return {
    hasChoices: scene.assemblies.length > 0,
    isOn: function () { return now >= 0; },
    build: build,
    paint: paint,
    list: list,
    addTo: function (tools) {
      var names = scene.assemblies.map(function (one, index) { return [index, one[0] + (one[2] ? ': too large for this page' : '')]; });
      addChoice(tools, 'Biological assembly', [[-1, 'As in the file']].concat(names), now, function (value) { choose(+value); });
      var menu = tools.lastChild;
      menu.classList.add('fnv-assemblies');
      scene.assemblies.forEach(function (one, index) {
        menu.options[index + 1].disabled = one[2];
        if (one[2]) menu.options[index + 1].title = 'fn.view(…, assembly=…) draws it with one sphere a residue';
      });
      var line = document.createElement('output');
      line.className = 'fnv-assembly fnv-hint';
      view.stage.after(line);
    },
    // An interface of the file is located where both chains are in the file.
    showFile: function (targets) {
      return now >= 0 && targets.some(function (who) { return moved.has(who.chain); }) ? choose(-1) : undefined;
    }
  };
}
