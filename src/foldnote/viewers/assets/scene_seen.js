// Visibility of chains, waters and hydrogens, and camera positions that a reader names. Concatenated with ``scene.js``.
function makeVisibility(view) {
  var scene = view.scene, without = new Set(), isDry = true, isBare = false, isAlone = false;

  function findChain(model, chain) { return scene.bases.findIndex(function (base) { return base[0] === model && base[1] === chain; }); }

  function isSeen(atom) {
    if (without.has(findChain(atom.model, findOrigin(atom)))) return false;
    if (isBare && !isHeavy(atom)) return false;
    if (isAlone && listLigands().some(function (part) { return part[0].model === atom.model && part[0].resn.indexOf(atom.resn) >= 0; })) return false;
    return !isDry || !isWater(atom);
  }

  // Ligands and ions of structures; a molecule that is a separate model has its own switch.
  function listLigands() { return scene.others.filter(function (part) { return part[0].resn; }); }

  function isWater(atom) {
    return scene.waters.some(function (one) { return one[0] === atom.model && one[1].indexOf(atom.resn) >= 0; });
  }

  function paint(viewer) {
    if (!isDry) scene.waters.forEach(function (one) { viewer.setStyle({ model: one[0], resn: one[1] }, { sphere: { scale: 0.22, color: '#d4453a' } }); });
    without.forEach(function (place) {
      view.kin({ model: scene.bases[place][0], chain: scene.bases[place][1] }).forEach(function (who) { viewer.setStyle(who, {}); });
    });
    if (isAlone) listLigands().forEach(function (part) { viewer.setStyle(part[0], {}); });
    if (isBare) viewer.setStyle({ elem: ['H', 'D'] }, {});
  }

  function addBox(parent, word, isOn, change) {
    addTick(parent, word, isOn, function (isNowOn) { change(isNowOn); view.repaint(); });
  }

  function open(viewer) {
    var panel = document.createElement('div');
    panel.className = 'fnv-seen';
    panel.setAttribute('role', 'group');
    panel.setAttribute('aria-label', 'Show');
    scene.bases.slice(0, 40).forEach(function (base, place) {
      var own = scene.toggles.length ? scene.models[base[0]].name + ' · ' : '';
      addBox(panel, own + 'Chain ' + (base[1] || '(no name)'), !without.has(place), function (isOn) { if (isOn) without.delete(place); else without.add(place); });
    });
    if (listLigands().length) addBox(panel, 'Ligands', !isAlone, function (isOn) { isAlone = !isOn; });
    var atoms = viewer ? viewer.selectedAtoms({}) : [];
    if (atoms.some(isWater)) addBox(panel, 'Water', !isDry, function (isOn) { isDry = !isOn; });
    if (atoms.some(function (atom) { return !isHeavy(atom); })) addBox(panel, 'Hydrogens', !isBare, function (isOn) { isBare = !isOn; });
    return panel;
  }

  return {
    paint: paint,
    open: open,
    isSeen: isSeen,
    isPlain: function () { return !without.size; },
    hasChain: function (who) { return !without.has(findChain(who.model, who.chain)); },
    hasChoices: scene.bases.length > 0
  };
}

// Named camera positions, which the browser stores for this structure.
function makeViews(view) {
  var key = 'foldnote-views-' + view.scene.key, kept = [];
  try { kept = JSON.parse(localStorage.getItem(key) || '[]'); } catch (error) { kept = []; }

  function save() {
    try { localStorage.setItem(key, JSON.stringify(kept)); } catch (error) { /* without storage, kept until the page is closed */ }
    fill();
  }

  function open() {
    var panel = document.createElement('form');
    panel.className = 'fnv-places';
    panel.setAttribute('aria-label', 'Views');
    var label = panel.appendChild(document.createElement('label')), name = document.createElement('input');
    name.maxLength = 40;
    label.append('Name ', name);
    var button = addButton(panel, 'Save view', 'Keep the camera position in this browser', null);
    button.type = 'submit';
    make('span', 'kept', panel);
    panel.onsubmit = function (event) {
      event.preventDefault();
      kept = kept.filter(function (one) { return one[0] !== name.value.trim(); });
      kept.push([name.value.trim() || 'View ' + (kept.length + 1), view.viewer().getView()]);
      name.value = '';
      save();
    };
    return panel;
  }

  function fill() {
    var list = view.find('kept');
    if (!list) return;
    list.replaceChildren();
    kept.forEach(function (one, place) {
      addButton(list, one[0], 'Return to this view', function () { view.turn(one[1]); });
      addButton(list, '×', 'Remove ' + one[0], function () { kept.splice(place, 1); save(); }).ariaLabel = 'Remove ' + one[0];
    });
    if (!kept.length) list.textContent = 'No view is saved yet.';
  }

  return { open: open, fill: fill };
}
