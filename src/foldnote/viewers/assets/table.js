// Turns the rows that were saved as HTML into a table of all rows, which can be sorted, filtered and saved as CSV. Rows
// that open something below the table are handled by table_rows.js, the plot of two columns by table_plot.js, drawings
// of molecules by table_pictures.js.
(function (root, data, addRows, addPlot, addPictures) {
  var rowPx = 26, columns = data.columns, all = data.values.length ? data.values[0].length : 0;
  var MOST_PRINTED = 2000, SHORT = 24, isPrinted = false;
  var order = [], sorted = -1, falling = false, words = '', marked = null;
  var shown = listShown();  // indices of the columns in the table; the others are equal in all rows
  var make = function (tag, name, parent) {
    var node = document.createElement(tag);
    if (name) node.className = name;
    return parent.appendChild(node);
  };

  function listShown() {
    return columns.map(function (_, index) { return index; }).filter(function (index) { return !columns[index].same; });
  }

  // JSON has no infinity, for which the largest number stands.
  function isInfinite(value) { return typeof value === 'number' && Math.abs(value) > 1.7e308; }

  function write(column, row) {
    var value = data.values[column][row];
    if (value === null) return '';
    if (typeof value !== 'number') return String(value);
    if (isInfinite(value)) return value > 0 ? '∞' : '−∞';
    if (columns[column].decimals) return value.toFixed(columns[column].decimals);
    if (Number.isInteger(value)) return String(value);
    var size = Math.abs(value);
    if (size >= 1e7 || size < 1e-3) return value.toExponential(3);
    return size >= 9999.5 ? value.toFixed(1) : value.toPrecision(4);
  }

  // Sort keys of a column: texts that are numbers, perhaps limits or all of one unit, count as these numbers, and numbers
  // inside other texts count as numbers. Computed once, since comparing 100,000 rows with the collation rules of a language
  // takes most of a minute.
  var keys = [], pen = document.createElement('canvas').getContext('2d');
  var NUMBER = /^\s*[<>≤≥≈~]?=?\s*([-+−]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?![\d.,])\s*(.*?)\s*$/i, NONE = /^\s*(?:[-–—?]*|n\/?a|nan|none)\s*$/i;
  function findKeys(column) {
    if (!keys[column]) keys[column] = columns[column].isNumber ? data.values[column] : findNumbers(data.values[column]) || findTexts(data.values[column]);
    return keys[column];
  }

  // Null where the texts are no numbers, or have several units.
  function findNumbers(values) {
    var unit = null, fits = true;
    var numbers = values.map(function (value) {
      if (!fits || value === null || NONE.test(value)) return null;
      var parts = NUMBER.exec(value);
      var number = parts && Number(parts[1].replace('−', '-'));
      fits = parts !== null && (unit === null || parts[2] === unit) && Math.abs(number) <= Number.MAX_SAFE_INTEGER;
      if (!fits) return null;
      unit = parts[2];
      return number;
    });
    return fits && unit !== null ? numbers : null;
  }

  function findTexts(values) {
    return values.map(function (value) {
      if (value === null) return value;
      return String(value).normalize('NFKD').toLowerCase().replace(/\d+/g, function (digits) { return digits.padStart(20, '0'); });
    });
  }

  function compare(column) {
    var values = findKeys(column), sign = falling ? -1 : 1;
    return function (a, b) {
      var x = values[a], y = values[b];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
    };
  }

  function choose() {
    order = [];
    for (var row = 0; row < all; row++) {
      if (marked && !marked.has(row)) continue;
      var fits = !words || shown.some(function (column) { return write(column, row).toLowerCase().indexOf(words) >= 0; });
      if (fits) order.push(row);
    }
    if (sorted >= 0) order.sort(compare(sorted));
    count.textContent = words || marked ? order.length.toLocaleString('en') + ' of ' + data.shape : data.shape;
    table.setAttribute('aria-rowcount', order.length + 1);
    if (rows) rows.remember({ sorted: sorted < 0 ? null : columns[sorted].name, falling: falling, words: filter.value });
    paint();
  }

  function chooseFromTop() {
    box.scrollTop = 0;
    choose();
  }

  // Only the visible rows are in the document, between two spacer rows.
  function paint() {
    var first = Math.max(0, Math.floor(box.scrollTop / rowPx) - 8), last = Math.min(order.length, first + Math.ceil(box.clientHeight / rowPx) + 16);
    if (isPrinted) { first = 0; last = Math.min(order.length, MOST_PRINTED); }
    if (rows) rows.beforePaint();
    body.replaceChildren();
    addRoom(first);
    for (var place = first; place < last; place++) {
      var line = make('tr', '', body);
      line.setAttribute('aria-rowindex', place + 2);
      shown.forEach(function (index) {
        var column = columns[index], cell = make('td', column.isNumber ? 'fnt-number' : '', line), text = write(index, order[place]);
        if (!pictures || !pictures.draw(cell, column.name, text)) {
          if (index === shown[0] && !column.isNumber) writeName(cell, text);
          else cell.textContent = text;
        }
        if (text.length > 24) cell.title = text;
      });
      if (rows) rows.dress(line, order[place]);
      if (data.steps) dressStep(line, order[place], place);
    }
    addRoom(order.length - last);
    none.hidden = order.length > 0;
    none.textContent = all ? 'No row contains that.' : 'This table has no rows.';
    box.classList.toggle('fnt-more', box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
    closeGaps();
    if (rows) rows.afterPaint();
  }

  // If there is no space, the middle of a long name is shortened: names often differ at their end. A right-to-left name stays
  // in one piece, since its letters join; the browser orders it.
  var RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
  function writeName(node, name) {
    var letters = Array.from(new Intl.Segmenter().segment(name), function (each) { return each.segment; }), long;
    if (RIGHT_TO_LEFT.test(name)) node.dir = 'auto';
    if (letters.length < 15 || node.dir) { node.textContent = name; return; }
    long = node.tagName === 'TD' ? make('span', '', node) : node;
    make('span', '', long).textContent = letters.slice(0, -7).join('');
    make('span', '', long).textContent = letters.slice(-7).join('');
    long.classList.add('fnt-long');
    node.setAttribute('aria-label', name);  // screen readers would read the parts with a space between them
  }

  // Copies contain complete names, whose parts browsers would separate by line ends.
  root.addEventListener('copy', function (event) {
    var marks = window.getSelection(), cells = Array.from(body.querySelectorAll('td')).filter(function (cell) { return marks.containsNode(cell, true); });
    var isWithin = box.contains(marks.anchorNode) && box.contains(marks.focusNode);
    if (!isWithin || !cells.some(function (cell) { return cell.querySelector('.fnt-long'); })) return;
    var lines = Array.from(table.rows).map(function (line) {
      return Array.from(line.cells).filter(function (cell) { return marks.containsNode(cell, true); }).map(function (cell) { return cell.textContent; }).join('\t');
    });
    var text = cells.length > 1 ? lines.filter(Boolean).join('\n') : String(marks).replace('\n', '');
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
  });

  // The browser leaves the space of a letter that does not fit before the text after an ellipsis: the end is moved
  // there.
  function closeGaps() {
    var names = Array.from(body.querySelectorAll('.fnt-long')), gaps = names.map(findGap);
    names.forEach(function (name, index) {
      name.lastChild.style.transform = gaps[index] > 0 ? 'translateX(-' + gaps[index] + 'px)' : '';
    });
  }

  function findGap(name) {
    var start = name.firstChild, letters = start.firstChild, fits = 0, over = letters.length, shown = 0, middle, width;
    if (start.scrollWidth <= start.clientWidth) return 0;
    var style = getComputedStyle(start);  // there is no shorthand for a font with tabular figures
    pen.font = [style.fontStyle, style.fontWeight, style.fontSize, style.fontFamily].join(' ');
    var room = start.getBoundingClientRect().width - pen.measureText('…').width, range = document.createRange();
    range.setStart(letters, 0);
    while (over - fits > 1) {
      middle = (fits + over) >> 1;
      range.setEnd(letters, middle);
      width = range.getBoundingClientRect().width;
      if (width <= room) { fits = middle; shown = width; } else over = middle;
    }
    return room - shown;
  }

  // A row shows its step, such as a pose, in the 3D views of the same structures on this page, and follows their steps.
  var current = data.steps ? data.steps.rows.indexOf(0) : -1;
  function dressStep(line, row, place) {
    if (data.steps.rows[row] < 0) return;
    line.className = 'fnt-step';
    line.tabIndex = row === current || (place === 0 && order.indexOf(current) < 0) ? 0 : -1;
    line.setAttribute('aria-current', String(row === current));
    line.title = 'Show in the 3D view';
    line.onclick = function () { showRow(row); };
    line.onkeydown = function (event) {
      var by = { ArrowUp: -1, ArrowDown: 1, Enter: 0, ' ': 0 }[event.key], next = order[place + by];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      if (next !== undefined && data.steps.rows[next] >= 0) showRow(next);
    };
  }

  function showRow(row) {
    current = row;
    reveal(order.indexOf(row));
    var line = body.querySelector('[aria-current=true]');
    if (line) line.focus({ preventScroll: true });
    document.dispatchEvent(new CustomEvent('fn-step', { detail: { key: data.steps.key, step: data.steps.rows[row] } }));
  }

  if (data.steps) document.addEventListener('fn-step-shown', function (event) {
    var row = data.steps.rows.indexOf(event.detail.step);
    if (event.detail.key !== data.steps.key || row === current) return;
    current = row;
    paint();
  });

  // Scrolls an index of the sorted list into view, below the heading.
  function reveal(place) {
    var top = place * rowPx, seen = box.clientHeight - head.offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowPx > box.scrollTop + seen) box.scrollTop = top + rowPx - seen;
    paint();
  }

  function addRoom(rows) {
    if (!rows) return;
    var room = make('tr', '', body), cell = make('td', 'fnt-room', room);
    room.setAttribute('aria-hidden', 'true');
    cell.colSpan = shown.length;
    cell.style.height = rows * rowPx + 'px';
  }

  function sortBy(index) {
    if (sorted !== index) { sorted = index; falling = columns[index].better === 'higher'; }
    else if (falling === (columns[index].better === 'higher')) falling = !falling;
    else sorted = -1;
    tellOrder();
    chooseFromTop();
  }

  function tellOrder() {
    head.querySelectorAll('th').forEach(function (cell, place) {
      cell.setAttribute('aria-sort', shown[place] !== sorted ? 'none' : falling ? 'descending' : 'ascending');
    });
  }

  // Values that all rows share: a collapsible line above the table. Short values come first, so that they are not lost
  // behind a sequence, which is shown by its ends; values that some rows lack come last. A value that repeats another
  // column's is omitted.
  function tellSame() {
    same.hidden = shown.length === columns.length;
    var line = same.firstChild, list = make('dl', '', same);
    same.replaceChildren(line, list);
    var told = columns.flatMap(function (column, index) {
      if (!column.same || column.same === 'said') return [];
      var row = data.values[index].findIndex(function (value) { return value !== null; });
      var unit = column.unit.replace(/(, )?[↑↓]$/, '');
      return [{ column: column, isPartial: column.same === 'known', value: write(index, row) + (column.isNumber && unit && unit.indexOf(' ') < 0 ? ' ' + unit : '') }];
    });
    told.sort(function (a, b) { return a.isPartial - b.isPartial || (a.value.length > SHORT) - (b.value.length > SHORT); });
    var areAllPartial = told.every(function (each) { return each.isPartial; });
    line.textContent = areAllPartial ? 'Same in all rows that have a value' : 'Same in all rows';
    told.forEach(function (each) {
      var term = make('dt', '', list);
      term.textContent = each.column.label + (each.isPartial && !areAllPartial ? ' (in rows that have a value)' : '');
      term.title = each.column.about;
      make('dd', '', list).textContent = each.value;
    });
    make('span', '', line).textContent = ': ' + told.map(function (each, index) {
      var value = each.value, isLong = value.length > SHORT, isFirstPartial = each.isPartial && index && !told[index - 1].isPartial;
      var prefix = isFirstPartial ? 'in rows that have a value: ' : '';
      return prefix + each.column.label + ' ' + (isLong ? value.slice(0, 12) + '…' + value.slice(-8) : value);
    }).join(' · ');
  }

  function saveCsv() {
    var quote = function (value) {
      var text = value === null ? '' : isInfinite(value) ? (value > 0 ? 'inf' : '-inf') : String(value);
      return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    };
    var lines = [columns.map(function (column) { return quote(column.name); })].concat(order.map(function (row) {
      return columns.map(function (_, index) { return quote(data.values[index][row]); });
    }));
    var link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([lines.map(function (line) { return line.join(','); }).join('\r\n') + '\r\n'], { type: 'text/csv' }));
    link.download = (data.title || 'table').replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-').replace(/\.csv$/, '').slice(0, 80) + '.csv';
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }

  var top = document.createElement('div'), box = document.createElement('div'), none;
  top.className = 'fnt-top';
  box.className = 'fnt-box';
  box.tabIndex = 0;
  box.setAttribute('role', 'group');  // not a landmark: a page can have several tables with the same title
  box.setAttribute('aria-label', data.title || 'Table');
  var heading = make('b', '', top);
  heading.textContent = data.title;
  var count = make('output', 'fnt-quiet', top), tools = make('span', 'fnt-tools', top);  // kept on one line
  var filter = make('input', '', tools), save = make('button', '', tools);
  filter.type = 'search';
  filter.placeholder = 'Filter rows';
  filter.setAttribute('aria-label', 'Filter rows');
  filter.oninput = function () { words = filter.value.toLowerCase(); chooseFromTop(); };
  save.type = 'button';
  save.textContent = 'Save CSV';
  save.title = 'Save the listed rows in this order';
  save.onclick = saveCsv;
  var same = document.createElement('details');
  same.className = 'fnt-same';
  make('summary', '', same);
  var table = make('table', '', box), head = make('tr', '', make('thead', '', table)), body = make('tbody', '', table);
  function drawHead() {
    head.replaceChildren();
    shown.forEach(function (index) {
      var column = columns[index], cell = make('th', column.isNumber ? 'fnt-number' : '', head), button = make('button', '', cell);
      cell.scope = 'col';
      button.type = 'button';
      column.label.split(column.label.length > SHORT ? /(?<=[_.]|, )|(?= \()/ : /(?<=, )|(?= \()/).forEach(function (part, place) {
        if (place) make('wbr', '', button);  // where a heading without space breaks; a short name does not break
        button.append(part);
      });
      if (column.unit) make('span', 'fnt-unit', button).textContent = ' (' + column.unit + ')';
      button.title = column.about || 'Sort by ' + column.label;
      button.onclick = function () { sortBy(index); };
    });
    tellOrder();
  }

  // Replaces the values by newer ones; order, filter and scroll position are kept.
  root.fnReplace = function (next) {
    var by = sorted < 0 ? null : columns[sorted].name;
    var isSame = JSON.stringify(next.columns) === JSON.stringify(columns);
    data = Object.assign({}, data, next);
    columns = data.columns;
    shown = listShown();
    all = data.values.length ? data.values[0].length : 0;
    keys = [];
    heading.textContent = data.title;
    sorted = columns.findIndex(function (column) { return column.name === by; });
    if (!isSame) drawHead();
    tellSame();
    setRowHeight();
    if (rows) rows.replace(data);
    if (plot) plot.replace(data);
    choose();
  };

  // Rows with drawings are higher, as soon as there is one.
  var pictures = addPictures ? addPictures() : null;
  function setRowHeight() {
    var has = Boolean(pictures) && pictures.take(data.pictures);
    rowPx = has ? pictures.rowPx : 26;
    root.classList.toggle('fnt-drawn', has);
  }

  none = make('p', 'fnt-quiet', box);
  box.onscroll = paint;
  // The browser creates no click event if a row is redrawn between press and release, as while the list scrolls.
  var pressed = null;
  body.addEventListener('pointerdown', function (event) { pressed = event.target.closest('tr'); });
  body.addEventListener('pointerup', function (event) {
    var line = event.target.closest('tr'), placeOf = function (row) { return row && row.getAttribute('aria-rowindex'); };
    if (placeOf(pressed) && placeOf(pressed) === placeOf(line) && !pressed.isConnected) line.click();
    pressed = null;
  });
  // Typed letters are meant for the table, not for the notebook.
  root.addEventListener('keydown', function (event) {
    if (!event.ctrlKey && !event.metaKey && event.key !== 'Escape' && !(event.shiftKey && event.key === 'Enter')) event.stopPropagation();
  });
  root.replaceChildren(root.querySelector('style'), top, same, box);
  if (data.note) make('p', 'fnt-quiet', root).textContent = data.note;
  var parts = {
    make: make, write: write, writeName: writeName, paint: paint, reveal: reveal, box: box, body: body, tools: tools,
    order: function () { return order; },
    mark: function (chosen) { marked = chosen; chooseFromTop(); },
    cellOf: function (line, column) { return line.cells[shown.indexOf(column)]; },
    nameOf: function (row) { return rows.nameOf(row); },
    open: function (row) { rows.open(row); }
  };
  var rows = data.opens && addRows ? addRows(root, data, parts) : null;
  var plot = rows && addPlot ? addPlot(root, data, parts) : null;
  if (rows) {
    var kept = rows.recall();
    sorted = columns.findIndex(function (column) { return column.name === kept.sorted; });
    falling = Boolean(kept.falling);
    filter.value = kept.words || '';
    words = filter.value.toLowerCase();
  }
  setRowHeight();
  drawHead();
  tellSame();
  // On paper all rows are present, and none is scrolled to.
  function print(is) { isPrinted = is; if (root.isConnected) paint(); }
  window.addEventListener('beforeprint', function () { print(true); });
  window.addEventListener('afterprint', function () { print(false); });
  new ResizeObserver(function () {
    root.classList.toggle('fnt-narrow', root.clientWidth < 560);
    paint();
  }).observe(box);
  choose();
  root.dataset.fnState = 'drawn';
})
