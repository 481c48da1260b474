// A plot of two numeric columns against each other: a rectangle drawn over dots filters the table to their rows, a
// click on a dot opens its row.
(function (root, data, table) {
  var MOST = 5000, WIDTH = 520, HEIGHT = 300, LEFT = 62, BOTTOM = 40, TOP = 8, RIGHT = 12;
  var make = table.make, chosen = null, isOpen = false, dots = [];
  var box = document.createElement('div'), across, up, svg, said;
  box.className = 'fnt-plot';
  box.hidden = true;
  var button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Plot';
  button.title = 'Plot two columns against each other';
  button.setAttribute('aria-expanded', 'false');
  button.onclick = function () {
    isOpen = !isOpen;
    button.setAttribute('aria-expanded', String(isOpen));
    box.hidden = !isOpen;
    if (isOpen) return show();
    choose(null);
  };
  table.tools.insertBefore(button, table.tools.lastChild);
  table.box.parentElement.before(box);

  // Columns whose numbers differ.
  function find() {
    return data.columns.map(function (_, index) { return index; }).filter(function (index) {
      var numbers = data.columns[index].isNumber ? data.values[index].filter(function (value) { return value !== null; }) : [];
      return numbers.some(function (value) { return value !== numbers[0]; });
    });
  }

  function offer() { button.hidden = find().length < 2; }

  function title(index) {
    var column = data.columns[index];
    return column.label + (column.unit ? ' (' + column.unit + ')' : '');
  }

  function draw(tag, attributes, parent) {
    var node = document.createElementNS('http://www.w3.org/2000/svg', tag);
    Object.keys(attributes).forEach(function (name) { node.setAttribute(name, attributes[name]); });
    return parent.appendChild(node);
  }

  function addSelect(bar, label, columns, value) {
    var select = make('select', '', make('label', '', bar));
    select.parentNode.prepend(label + ' ');
    columns.forEach(function (index) {
      var option = make('option', '', select);
      option.value = data.columns[index].name;
      option.textContent = data.columns[index].label;
      option.selected = index === value;
    });
    select.onchange = function () { choose(null); paint(); };
    return select;
  }

  function show() {
    var columns = find(), bar, clear;
    box.replaceChildren();
    bar = make('div', 'fnt-plot-top', box);
    across = addSelect(bar, 'Across', columns, columns[0]);
    up = addSelect(bar, 'Up', columns, columns[1]);
    clear = make('button', '', bar);
    clear.type = 'button';
    clear.textContent = 'Clear';
    clear.title = 'List all rows again';
    clear.onclick = function () { choose(null); };
    said = make('output', 'fnt-quiet', bar);
    svg = draw('svg', { viewBox: '0 0 ' + WIDTH + ' ' + HEIGHT, role: 'img' }, box);
    paint();
  }

  function scale(values, from, to) {
    var low = Math.min.apply(null, values), high = Math.max.apply(null, values), room = (high - low) * 0.05 || 1;
    low -= room;
    high += room;
    var step = Math.pow(10, Math.floor(Math.log10((high - low) / 3))), ticks = [];
    while ((high - low) / step > 6) step *= (high - low) / step > 12 ? 5 : 2;
    for (var tick = Math.ceil(low / step); tick * step <= high; tick++) ticks.push(Number((tick * step).toPrecision(10)));
    return { ticks: ticks, at: function (value) { return from + (value - low) / (high - low) * (to - from); } };
  }

  function paint() {
    var x = data.columns.findIndex(function (column) { return column.name === across.value; });
    var y = data.columns.findIndex(function (column) { return column.name === up.value; });
    var fits = function (value) { return value !== null && Math.abs(value) < 1.7e308; };
    var rows = data.values[x].map(function (_, row) { return row; }).filter(function (row) {
      return fits(data.values[x][row]) && fits(data.values[y][row]);
    });
    var shown = rows.slice(0, MOST);
    svg.replaceChildren();
    dots = [];
    svg.setAttribute('aria-label', title(y) + ' against ' + title(x));
    if (!shown.length) return tell(rows);
    var h = scale(shown.map(function (row) { return data.values[x][row]; }), LEFT, WIDTH - RIGHT);
    var v = scale(shown.map(function (row) { return data.values[y][row]; }), HEIGHT - BOTTOM, TOP);
    draw('path', { d: 'M' + LEFT + ' ' + TOP + 'V' + (HEIGHT - BOTTOM) + 'H' + (WIDTH - RIGHT), class: 'fnt-axis' }, svg);
    h.ticks.forEach(function (tick) { draw('text', { x: h.at(tick), y: HEIGHT - BOTTOM + 15, 'text-anchor': 'middle' }, svg).textContent = tick; });
    v.ticks.forEach(function (tick) { draw('text', { x: LEFT - 6, y: v.at(tick) + 4, 'text-anchor': 'end' }, svg).textContent = tick; });
    draw('text', { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' }, svg).textContent = title(x);
    draw('text', { x: 12, y: (HEIGHT - BOTTOM) / 2, 'text-anchor': 'middle', transform: 'rotate(-90 12 ' + (HEIGHT - BOTTOM) / 2 + ')' }, svg).textContent = title(y);
    shown.forEach(function (row) {
      var dot = { row: row, x: h.at(data.values[x][row]), y: v.at(data.values[y][row]) };
      dot.node = draw('circle', { cx: dot.x, cy: dot.y, r: 4 }, svg);
      draw('title', {}, dot.node).textContent = table.nameOf(row) + ': ' + table.write(x, row) + ', ' + table.write(y, row);
      dots.push(dot);
    });
    mark();
    tell(rows);
  }

  function tell(rows) {
    said.textContent = chosen ? chosen.size.toLocaleString('en') + ' selected' :
      (rows && rows.length > MOST ? 'The first ' + MOST.toLocaleString('en') + ' rows are drawn. ' : '') + 'Draw a rectangle to list its rows.';
  }

  function mark() {
    dots.forEach(function (dot) { dot.node.setAttribute('class', chosen && !chosen.has(dot.row) ? 'fnt-dim' : ''); });
  }

  function choose(rows) {
    if (!rows && !chosen) return;
    chosen = rows;
    table.mark(chosen);
    mark();
    tell();
  }

  var first = null, frame = null;
  function place(event) {
    var bounds = svg.getBoundingClientRect();
    return { x: (event.clientX - bounds.left) / bounds.width * WIDTH, y: (event.clientY - bounds.top) / bounds.height * HEIGHT };
  }
  function span(a, b) { return { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) }; }
  box.addEventListener('pointerdown', function (event) {
    if (!svg || !svg.contains(event.target)) return;
    first = place(event);
    frame = draw('rect', { class: 'fnt-brush' }, svg);
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  box.addEventListener('pointermove', function (event) {
    if (!first) return;
    var area = span(first, place(event));
    Object.keys(area).forEach(function (name) { frame.setAttribute(name, area[name]); });
  });
  box.addEventListener('pointerup', function (event) {
    if (!first) return;
    var last = place(event), area = span(first, last);
    first = null;
    frame.remove();
    if (area.width < 3 && area.height < 3) {
      var near = dots.filter(function (dot) { return Math.hypot(dot.x - last.x, dot.y - last.y) < 8; });
      return near.length ? table.open(near[near.length - 1].row) : choose(null);
    }
    choose(new Set(dots.filter(function (dot) {
      return dot.x >= area.x && dot.x <= area.x + area.width && dot.y >= area.y && dot.y <= area.y + area.height;
    }).map(function (dot) { return dot.row; })));
  });

  offer();
  return {
    replace: function (next) {
      data = next;
      offer();
      if (!isOpen) return;
      var before = [across.value, up.value];
      show();
      across.value = before[0];
      up.value = before[1];
      paint();
    }
  };
})
