// Unpacks one view and hands it to the program that draws; that program is put on the page once.
(function (data, dress) {
  var script = document.currentScript;
  var root = (script && script.closest && script.closest('.fnv-view')) || document.getElementById(data.id);
  if (!root || root.dataset.fnDrawn) return;
  root.dataset.fnDrawn = '1';
  function fail(title, advice) {
    root.querySelector('.fnv-note strong').textContent = title;
    root.querySelector('.fnv-note p').textContent = advice + ' The summary below describes the structure.';
    root.dataset.fnState = 'failed';
  }
  function put(tag, text) {
    var node = document.createElement(tag);
    node.textContent = text;
    document.head.appendChild(node);
  }
  if (!window.DecompressionStream) return fail('No 3D view: this browser is too old.', 'Use a version from 2023 or later.');
  // Five letters are four bytes; see compression.py.
  function unpack(text) {
    var letters = '!#%()*+,-.0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz|~', values = [], bytes = new DataView(new ArrayBuffer(Math.ceil(text.length / 5) * 4));
    for (var i = 0; i < 85; i++) values[letters.charCodeAt(i)] = i;
    for (i = 0; i < text.length; i += 5) {
      for (var word = 0, k = i; k < i + 5; k++) word = word * 85 + (k < text.length ? values[text.charCodeAt(k)] : 84);
      bytes.setUint32(i / 5 * 4, word);
    }
    return new Uint8Array(bytes.buffer, 0, Math.floor(text.length * 4 / 5));
  }
  new Response(new Blob([unpack(data.packed)]).stream().pipeThrough(new DecompressionStream('gzip'))).json().then(function (scene) {
    if (!window[scene.name]) {
      put('style', scene.style);
      put('script', 'window.' + scene.name + '=' + scene.code);
    }
    window[scene.name](data, dress, scene, root);
  }).catch(function (error) {
    fail('No 3D view: the page does not let it be drawn (' + (error.message || error) + ').', 'Open the notebook in JupyterLab, or the file in a viewer.');
  });
})
