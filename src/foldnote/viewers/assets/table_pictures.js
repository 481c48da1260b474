// Pictures in the cells of one column: of structures, or drawings of molecules, whose colours are mixed with that of the
// text, so that they are legible in light and dark themes.
(function () {
  var SVG = 'http://www.w3.org/2000/svg', pictures = null, made = {};

  function add(parent, name, attributes) {
    var node = parent.appendChild(document.createElementNS(SVG, name));
    Object.keys(attributes).forEach(function (key) { node.setAttribute(key, attributes[key]); });
    return node;
  }

  function tone(ink) { return ink === '#000000' ? 'currentColor' : 'color-mix(in srgb,' + ink + ' 48%,currentColor)'; }

  function make(drawing, text) {
    if (typeof drawing === 'string') {
      var image = document.createElement('img');
      image.className = 'fnt-molecule';
      image.alt = 'Picture of ' + text;
      image.src = 'data:image/png;base64,' + drawing;
      return image;
    }
    var svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('viewBox', '0 0 ' + pictures.width + ' ' + pictures.height);
    svg.setAttribute('class', 'fnt-molecule');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', '2D drawing of ' + text);
    drawing.lines.forEach(function (line) { add(svg, 'path', { d: line[1], fill: 'none' }).style.stroke = tone(line[0]); });
    drawing.areas.forEach(function (area) { add(svg, 'path', { d: area[1] }).style.fill = tone(area[0]); });
    drawing.letters.forEach(function (letter) {
      var node = add(svg, 'text', { x: letter[0], y: letter[1], 'font-size': letter[2] });
      node.style.fill = tone(letter[3]);
      node.textContent = letter[4];
    });
    return svg;
  }

  return {
    rowPx: 66,
    // Uses the pictures of the table's newest values; returns whether there are any.
    take: function (next) {
      pictures = next && next.drawn && Object.keys(next.drawn).length ? next : null;
      return Boolean(pictures);
    },
    draw: function (cell, column, text) {
      var drawing = pictures && pictures.column === column && pictures.drawn.hasOwnProperty(text) ? pictures.drawn[text] : null;
      if (!drawing) return false;
      made[text] = made[text] || make(drawing, text);
      cell.appendChild(made[text].cloneNode(true));
      cell.title = text;
      return true;
    }
  };
})
