// Unpacks one view and passes it to the drawing program, which is put on the page once.
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
  // Decodes base 85 of RFC 1924, in which characters with a meaning in HTML are replaced.
  function read85(text) {
    var digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#.%/()*+-;:=,?@^_[]| ~', codes = {};
    for (var digit in digits) codes[digits[digit]] = +digit;
    var more = (5 - text.length % 5) % 5, bytes = new DataView(new ArrayBuffer((text.length + more) / 5 * 4));
    text += '~'.repeat(more);
    for (var place = 0; place < text.length; place += 5) {
      for (var value = 0, next = 0; next < 5; next++) value = value * 85 + codes[text[place + next]];
      bytes.setUint32(place / 5 * 4, value);
    }
    return new Uint8Array(bytes.buffer, 0, bytes.byteLength - more);
  }
  var bytes = read85(data.packed);
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json().then(function (scene) {
    if (!window[scene.name]) {
      put('style', scene.style);
      put('script', 'window.' + scene.name + '=' + scene.code);
    }
    window[scene.name](data, dress, scene, root);
  }).catch(function (error) {
    fail('No 3D view: the page does not allow it (' + (error.message || error) + ').', 'Open the notebook in JupyterLab, or the file in a viewer.');
  });
})
