// Adds buttons below a plot that save its drawing, dark on white, as SVG and PNG, and its data as CSV.
(function (name, packed) {
  var script = document.currentScript, figure = script && script.closest && script.closest('.fnv-plot');
  var image = figure && figure.querySelector('.fnv-plane img');
  if (!image || figure.querySelector('.fnv-keep')) return;
  var bytes = function (text) { return Uint8Array.from(atob(text), function (letter) { return letter.charCodeAt(0); }); };
  var drawing = new TextDecoder().decode(bytes(image.src.split(',')[1])).replace(/@media[^<]*/, '');
  var row = document.createElement('p');
  row.className = 'fnv-keep';
  row.append('Save ');
  function give(parts, type, suffix) {
    var link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(parts, { type: type }));
    link.download = name.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 80) + suffix;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }
  function add(word, about, act) {
    var button = row.appendChild(document.createElement('button'));
    button.type = 'button';
    button.textContent = word;
    button.title = about;
    button.onclick = act;
  }
  add('SVG', 'Save the plot as SVG', function () { give([drawing], 'image/svg+xml', '.svg'); });
  add('PNG', 'Save the plot as PNG, three times the size on screen', function () {
    var page = document.createElement('canvas'), pen = page.getContext('2d'), clean = new Image();
    clean.onload = function () {
      page.width = 3 * clean.naturalWidth;
      page.height = 3 * clean.naturalHeight;
      pen.drawImage(clean, 0, 0, page.width, page.height);
      page.toBlob(function (blob) { give([blob], 'image/png', '.png'); }, 'image/png');
    };
    clean.src = 'data:image/svg+xml,' + encodeURIComponent(drawing);
  });
  if (packed && window.DecompressionStream) add('CSV', 'Save the plotted data as CSV', function () {
    var stream = new Blob([bytes(packed)]).stream().pipeThrough(new DecompressionStream('gzip'));
    new Response(stream).json().then(function (text) { give([text], 'text/csv', '.csv'); });
  });
  figure.append(row);
})
