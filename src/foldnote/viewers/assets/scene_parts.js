// Parts of drawing that are not stored in a view: the library, packed text, styles. Concatenated with ``scene.js``.
function within(promise, seconds) {
  return Promise.race([promise, new Promise(function (_, refuse) {
    setTimeout(function () { refuse(new Error('no answer after ' + seconds + ' s')); }, seconds * 1000);
  })]);
}

function here() {
  if (window.$3Dmol && window.$3Dmol.createViewer) return window.$3Dmol;
  throw new Error('absent');
}

// The notebook server has the same files; requests go only to this page's own origin.
function runFromServer(served) {
  var config = document.getElementById('jupyter-config-data');
  var base = (config && JSON.parse(config.textContent).baseUrl) || document.body.dataset.baseUrl;
  if (!base) throw new Error('no notebook server');
  var url = new URL(base.replace(/\/?$/, '/') + served, location.href);
  if (url.origin !== location.origin) throw new Error('the notebook server is another site');
  return fetch(url, { credentials: 'same-origin' }).then(function (answer) {
    if (!answer.ok) throw new Error('the server answered ' + answer.status);
    return answer.text();
  }).then(function (text) { new Function('exports', 'module', 'define', 'require', text).call(window); });
}

function fromServer(served) {
  return runFromServer(served).then(here);
}

async function library(served) {
  var ways = [here, function () { return within(Promise.resolve(window.$3Dmolpromise), 15).then(here); }, function () { return within(fromServer(served), 30); }];
  var fault;
  for (var way of ways) {
    try { return await way(); } catch (error) { fault = error; }
  }
  throw fault;
}

// Views do not contain the program that writes scripts. Another version would not match this view.
async function loadScripts(served) {
  var version = served.split('=').pop(), known = function () { return (window.foldnoteScripts || {})[version]; };
  if (!known()) await within(Promise.resolve().then(function () { return runFromServer(served); }), 30);
  if (!known()) throw new Error('the server has another version');
  return known();
}

function canDraw() {
  if (window.foldnoteWebGL === undefined) {
    var context = document.createElement('canvas').getContext('webgl2');
    var info = context && context.getExtension('WEBGL_debug_renderer_info');
    var card = info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
    window.foldnoteWebGL = !context ? '' : /swiftshader|llvmpipe|softpipe|software|basic render/i.test(card) ? 'program' : 'card';
    var end = context && context.getExtension('WEBGL_lose_context');
    if (end) end.loseContext();
  }
  return !!window.foldnoteWebGL;
}

// Fourfold supersampling needs a graphics card; the finest ribbons are for structures whose parts are recognisable.
function fineness(isLarge) { return { upscale: window.foldnoteWebGL === 'card', cartoonQuality: isLarge ? 5 : 10 }; }

// Python writes consecutive numbers as the first and their count.
function partRuns(runs) {
  return [].concat.apply([], runs.map(function (run) {
    return !Array.isArray(run) ? run : Array.from({ length: run[1] }, function (_, index) { return index ? String(+run[0] + index) : run[0]; });
  }));
}

// 3Dmol.js does not read insertion codes in mmCIF files: residues 52 and 52A would be one.
function setNumbers(model, codes) {
  var atoms = model.selectedAtoms({});
  codes.forEach(function (run) { atoms.slice(run[0], run[0] + run[1]).forEach(function (atom) { atom.icode = run[2]; }); });
  atoms.forEach(function (atom) { atom.rescode = atom.resi + (atom.icode ? '^' + atom.icode : ''); });
}

// Lines of equal length were transposed: see foldnote.viewers.render.compression.
function turnBack(pieces) {
  return pieces.map(function (piece) {
    if (typeof piece === 'string') return piece;
    var length = piece[0], letters = piece[1], count = letters.length / length, codes = new Uint8Array(count * (length + 1)).fill(10);
    for (var column = 0, place = 0; column < length; column++) {
      for (var line = 0; line < count; line++) codes[line * (length + 1) + column] = letters.charCodeAt(place++);
    }
    return new TextDecoder().decode(codes.subarray(0, -1));
  }).join('\n');
}

// Selecting one chain does not search the atoms of all others. 3Dmol.js calls a chain without a name " ".
function sortChains(model) {
  var chains = new Map(), ask = model.selectedAtoms;
  model.selectedAtoms({}).forEach(function (atom) {
    atom.chain = (atom.chain || '').trim();
    if (!chains.has(atom.chain)) chains.set(atom.chain, []);
    chains.get(atom.chain).push(atom);
  });
  model.selectedAtoms = function (who, from) {
    var isSorted = who && typeof who.chain === 'string' && !who.invert && (!from || from === model.atoms);
    return ask.call(model, who, isSorted ? chains.get(who.chain) || [] : from);
  };
}

function ground(stage) {
  for (var node = stage; node; node = node.parentElement) {
    var parts = getComputedStyle(node).backgroundColor.match(/[\d.]+/g);
    if (parts && (parts.length < 4 || parts[3] > 0)) {
      return '#' + parts.slice(0, 3).map(function (part) { return (+part | 256).toString(16).slice(1); }).join('');
    }
  }
  return '#ffffff';
}

// The chain in the file to which an atom, or the original of a copied atom, belongs.
function findOrigin(atom) { return atom.origin === undefined ? atom.chain : atom.origin; }

// ``Confidence`` for ``Confidence (pLDDT, 0 to 100)``.
function shorten(name) { return name.replace(/ \(.*/, ''); }

function describeAtom(atom, scene, color) {
  var number = atom.resi + (atom.icode || '').trim();
  var region = '';
  (scene.marks[atom.model] || []).forEach(function (mark) {
    if (mark.chain === findOrigin(atom) && mark.numbers.indexOf(number) >= 0) region = mark.label;
  });
  var model = scene.models[atom.model];
  var parts = scene.models.length > 1 && model ? [model.name] : [];
  if (model && model.molecule) return parts.concat(atom.atom && atom.atom !== atom.elem ? atom.atom : atom.elem + (atom.index + 1)).join(' · ');
  parts.push('Chain ' + atom.chain, atom.resn + ' ' + number);
  if (region) parts.push(region);
  var look = scene.looks[color], values = look && (look.values[atom.model] || {})[findOrigin(atom)];
  var base = values && scene.bases.find(function (one) { return one[0] === atom.model && one[1] === findOrigin(atom); });
  var value = base ? values[base[4].indexOf(atom[base[3]])] : null;
  if (typeof value === 'number') parts.push(shorten(look.name) + ' ' + value);
  return parts.join(' · ');
}

// Every chain with a scheme that assigns each residue its colour, then its residues without a value, translucent.
function inkResidues(look, scene) {
  return [].concat.apply([], scene.bases.map(function (base) {
    var shades = (look.shades[base[0]] || {})[base[1]] || [], map = {}, pale = {};
    shades.forEach(function (shade, index) { if (shade >= 0) map[base[4][index]] = look.palette[shade]; });
    var all = [base[2], { color: scene.unknown, colorscheme: { prop: base[3], map: map } }, base[5]];
    pale[base[3]] = base[4].filter(function (name) { return !(name in map); });
    if (!pale[base[3]].length) return [all];
    return [all, [Object.assign({}, base[2], pale), { color: scene.unknown }, Object.assign({}, base[5], { opacity: scene.unknownOpacity })]];
  }));
}

function ribbon(ink, options) {
  if (options.stick) return stick(ink);
  if (options.beads) return { sphere: Object.assign({ radius: options.beads }, ink) };
  var look = Object.assign({}, ink, options.trace ? { style: 'trace' } : { arrows: true });
  if (options.thickness) look.thickness = options.thickness;
  if (options.opacity) look.opacity = options.opacity;
  return { cartoon: look };
}

// The carbons of a stick have the colour, other elements keep their own.
function stick(ink) {
  var map = { N: '#3050f8', O: '#e0302a', S: '#c8a400', P: '#ff8000', H: '#c8c8c8', SE: '#ffa100', C: ink.color };
  return { stick: Object.assign({ radius: 0.16 }, ink.colorscheme ? ink : { colorscheme: { prop: 'elem', map: map } }) };
}

function listPlace(atom) { return [atom.x, atom.y, atom.z]; }

function place(point) { return { x: point[0], y: point[1], z: point[2] }; }

var TAG = { fontSize: 11, fontColor: '#000000', backgroundColor: '#ffffff', backgroundOpacity: 0.75, padding: 1, alignment: 'center', inFront: true };

// Suppress drawing during several changes: 3Dmol.js draws at once for each label, each removal and each move of the camera.
function withoutDrawing(viewer, change) {
  if (viewer.hasOwnProperty('show')) return change();
  viewer.show = function () {};
  try { change(); } finally { delete viewer.show; }
}

// Dashed lines with labels at their midpoints; the labels are removed with all others at a repaint.
function drawLines(viewer, lines, radius) {
  return lines.map(function (line) {
    var middle = line[0].map(function (value, axis) { return (value + line[1][axis]) / 2; });
    if (line[2]) viewer.addLabel(line[2], Object.assign({ position: place(middle) }, TAG));
    return viewer.addCylinder({ start: place(line[0]), end: place(line[1]), radius: radius || 0.08, dashed: true, dashLength: 0.28, gapLength: 0.2, color: line[3] });
  });
}

function findMiddle(viewer, models) {
  var atoms = viewer.selectedAtoms({ model: models }), sum = { x: 0, y: 0, z: 0 };
  atoms.forEach(function (atom) { 'xyz'.split('').forEach(function (axis) { sum[axis] += atom[axis] / atoms.length; }); });
  return sum;
}

// Python wrote and escaped the text; a drawing is shown as an image, in which no script can run.
function fillPanel(panel, now, scene) {
  panel.innerHTML = now.panel;
  if (now.drawing < 0) return;
  var figure = document.createElement('figure'), image = figure.appendChild(document.createElement('img'));
  image.alt = now.words || '2D drawing of ' + now.label;
  image.src = packDrawing(scene.drawings[now.drawing]);
  if (now.words) addSaving(figure, image, scene.drawings[now.drawing], now.label);
  panel.prepend(figure);
}

function give(blob, name, suffix) {
  var link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, '-').slice(0, 80) + suffix;
  link.click();
  setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
}

function packDrawing(text) {
  var bytes = new TextEncoder().encode(text), letters = '';
  bytes.forEach(function (byte) { letters += String.fromCharCode(byte); });
  return 'data:image/svg+xml;base64,' + btoa(letters);
}

// Saved diagrams are for print: on white, three times the size on the page.
function addSaving(figure, image, text, label) {
  var plain = text.replace(/@media[^<]*/, ''), row = figure.appendChild(document.createElement('figcaption'));
  var add = function (word, act) {
    var button = row.appendChild(document.createElement('button'));
    button.type = 'button';
    button.textContent = word;
    button.title = 'Save the diagram as ' + word;
    button.onclick = act;
  };
  row.append('Save diagram ');
  add('SVG', function () { give(new Blob([plain], { type: 'image/svg+xml' }), 'interactions-' + label, '.svg'); });
  add('PNG', function () {
    var page = document.createElement('canvas'), pen = page.getContext('2d'), clean = new Image();
    clean.onload = function () {
      page.width = 3 * clean.naturalWidth;
      page.height = 3 * clean.naturalHeight;
      pen.drawImage(clean, 0, 0, page.width, page.height);
      page.toBlob(function (blob) { give(blob, 'interactions-' + label, '.png'); }, 'image/png');
    };
    clean.src = packDrawing(plain);
  });
}

var styles = {
  cartoon: ribbon,
  sticks: stick,
  spheres: function (ink) { return { sphere: ink }; },
  surface: ribbon
};
