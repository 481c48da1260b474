// Saves a picture of the view in a size that the reader chooses. Concatenated with ``scene.js``.
var MAX_PX = 8000;
var PROGRAMS = [{ name: 'pymol', word: 'PyMOL', suffix: '.pml' }, { name: 'chimerax', word: 'ChimeraX', suffix: '.py' }];

// 3Dmol.js draws as many pixels as the screen has: for a moment, it is given a screen with the wanted number of pixels,
// doubled for smooth edges. Labels and lines keep their relative size.
function drawPicture(viewer, stage, wish) {
  var view = viewer.getView(), own = Object.getOwnPropertyDescriptor(window, 'devicePixelRatio');
  var height = stage.clientHeight, width = height * wish.width / wish.height, fine = Math.max(wish.width, wish.height) <= MAX_PX / 2 ? 2 : 1;
  var share = function (w, h) { return Math.min(1, w / (1.2 * h)); };
  var page = document.createElement('canvas'), pen = page.getContext('2d');
  page.width = wish.width;
  page.height = wish.height;
  try {
    Object.defineProperty(window, 'devicePixelRatio', { configurable: true, value: fine * wish.height / height });
    pen.fillStyle = wish.ground === 'white' ? '#ffffff' : ground(stage);
    if (wish.ground !== 'none') pen.fillRect(0, 0, wish.width, wish.height);
    withoutDrawing(viewer, function () {
      viewer.setWidth(width);
      viewer.setHeight(height);
      viewer.setBackgroundColor(pen.fillStyle, wish.ground === 'none' ? 0 : 1);
      viewer.zoom(share(width, height) / share(stage.clientWidth, height));
    });
    viewer.render();
    pen.imageSmoothingQuality = 'high';
    pen.drawImage(viewer.getCanvas(), 0, 0, wish.width, wish.height);
  } finally {
    delete window.devicePixelRatio;
    if (own) Object.defineProperty(window, 'devicePixelRatio', own);
    withoutDrawing(viewer, function () {
      viewer.resize();
      viewer.setBackgroundColor(ground(stage));
      viewer.setView(view);
    });
    viewer.render();
  }
  return new Promise(function (done) { page.toBlob(done, 'image/png'); }).then(function (blob) { return blob.arrayBuffer(); })
    .then(function (bytes) { return writeResolution(new Uint8Array(bytes), wish.dpi); });
}

// Writes the chunk pHYs of ISO/IEC 15948, right after the header: dots per metre in both directions.
function writeResolution(png, dpi) {
  var chunk = new DataView(new ArrayBuffer(21)), dots = Math.round(dpi / 0.0254), after = 33, code = -1;
  chunk.setUint32(0, 9);
  [112, 72, 89, 115].forEach(function (letter, index) { chunk.setUint8(4 + index, letter); });
  chunk.setUint32(8, dots);
  chunk.setUint32(12, dots);
  chunk.setUint8(16, 1);
  for (var place = 4; place < 17; place++) {
    code ^= chunk.getUint8(place);
    for (var bit = 0; bit < 8; bit++) code = code & 1 ? (code >>> 1) ^ 0xedb88320 : code >>> 1;
  }
  chunk.setUint32(17, ~code >>> 0);
  var whole = new Uint8Array(png.length + 21);
  whole.set(png.subarray(0, after));
  whole.set(new Uint8Array(chunk.buffer), after);
  whole.set(png.subarray(after), after + 21);
  return whole;
}

// The fields below a picture; ``take`` receives the choice, ``script`` the name of a program.
function askForPicture(stage, take, script) {
  var form = document.createElement('form'), dots = matchMedia('(min-resolution: 2dppx)').matches ? 1 : 2;
  form.className = 'fnv-save';
  form.setAttribute('aria-label', 'Save');
  var field = function (word, unit, value, most) {
    var label = form.appendChild(document.createElement('label')), input = document.createElement('input');
    Object.assign(input, { type: 'number', min: 16, max: most, required: true, value: value, step: 1 });
    label.append(word + ' ', input, ' ' + unit);
    return input;
  };
  var scale = dots * Math.max(1, window.devicePixelRatio);
  var width = field('Width', 'px', Math.min(MAX_PX, Math.round(stage.clientWidth * scale)), MAX_PX);
  var height = field('Height', 'px', Math.min(MAX_PX, Math.round(stage.clientHeight * scale)), MAX_PX);
  var dpi = field('Resolution', 'dpi', 300, 2400), label = form.appendChild(document.createElement('label')), back = document.createElement('select');
  [['seen', 'as seen'], ['white', 'white'], ['none', 'transparent']].forEach(function (pair) { back.add(new Option(pair[1], pair[0])); });
  label.append('Background ', back);
  var said = form.appendChild(document.createElement('output')), save = form.appendChild(document.createElement('button'));
  save.textContent = 'Save PNG';
  var measure = function () {
    var mm = function (pixels) { return Math.round(pixels * 25.4 / dpi.value); };
    said.textContent = form.checkValidity() ? mm(width.value) + ' × ' + mm(height.value) + ' mm in print' : '';
  };
  form.oninput = measure;
  form.onsubmit = function (event) {
    event.preventDefault();
    take({ width: +width.value, height: +height.value, dpi: +dpi.value, ground: back.value });
  };
  measure();
  var scripts = make('span', 'scripts', form);
  scripts.append('As a script for ');
  PROGRAMS.forEach(function (program) {
    addButton(scripts, program.word, 'Save the view, with its coordinates, as a file that ' + program.word + ' opens', function () { script(program).then(function (fault) { said.textContent = fault; }); });
  });
  return form;
}
