// Rows that stand for jobs: a click or Enter opens the job's result beside the table, or below it if there is no space.
// The result is in the document, or is requested with the event `fn-open-job` from the program that shows the table;
// otherwise a line of code shows how to get it.
(function (root, data, table) {
  var opens = data.opens, open = null, isFocused = null, last = null;
  var memory = window.foldnoteRows = window.foldnoteRows || {};
  var kept = memory[opens.key] = memory[opens.key] || {};
  var make = table.make;
  var both = make('div', 'fnt-both', root), pane = make('section', 'fnt-pane', both);
  var find = function (name) { return data.columns.findIndex(function (column) { return column.name === name; }); };
  var read = function (name, row) { var index = find(name); return index < 0 ? '' : table.write(index, row); };
  var nameOf = function (row) { return String(data.values[find(opens.column)][row]); };
  var rowOf = function (job) { return data.values[find(opens.column)].indexOf(job); };
  root.classList.add('fnt-rows');
  table.box.before(both);
  pane.before(table.box);
  pane.hidden = true;
  table.box.tabIndex = -1;

  function dress(line, row) {
    var job = nameOf(row), cell = table.cellOf(line, find(opens.column)), button = document.createElement('button');
    var state = read(opens.state, row), place = find(opens.state);
    button.type = 'button';
    button.className = 'fnt-open';
    table.writeName(button, job);
    button.dataset.job = job;
    button.setAttribute('aria-expanded', String(job === open));
    cell.replaceChildren(button);
    line.classList.toggle('fnt-chosen', job === open);
    if (find(opens.reason) >= 0) table.cellOf(line, find(opens.reason)).className = 'fnt-reason';
    if (place >= 0) table.cellOf(line, place).className = 'fnt-state fnt-state-' + state.toLowerCase().replace(/\W+/g, '-');
    line.onclick = function () {
      if (String(window.getSelection())) return;  // the user is selecting a sequence to copy it
      toggle(job);
    };
  }

  table.body.addEventListener('keydown', function (event) {
    var button = event.target.closest('.fnt-open'), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!button || !step) return;
    event.preventDefault();
    var order = table.order(), place = order.indexOf(rowOf(button.dataset.job)) + step;
    if (place < 0 || place >= order.length) return;
    isFocused = nameOf(order[place]);
    table.reveal(place);
  });

  function beforePaint() {
    var button = document.activeElement && document.activeElement.closest && document.activeElement.closest('.fnt-open');
    if (button && root.contains(button) && !isFocused) isFocused = button.dataset.job;
  }

  function afterPaint() {
    if (!isFocused) return;
    var button = Array.from(table.body.querySelectorAll('.fnt-open')).find(function (each) { return each.dataset.job === isFocused; });
    isFocused = null;
    if (button) button.focus({ preventScroll: true });
  }

  function toggle(job) {
    open = open === job ? null : job;
    kept.open = open;
    table.paint();
    show();
  }

  // Inserts HTML written by foldnote into a node; scripts set by innerHTML do not run, so they are created again.
  function put(node, html) {
    node.innerHTML = html;
    node.querySelectorAll('script').forEach(function (dead) {
      var live = document.createElement('script');
      live.textContent = dead.textContent;
      dead.replaceWith(live);
    });
  }

  function addButton(parent, text, title, action) {
    var button = make('button', '', parent);
    button.type = 'button';
    button.textContent = text;
    button.title = title;
    button.setAttribute('aria-label', title);
    button.onclick = action;
    return button;
  }

  function show() {
    var row = open === null ? -1 : rowOf(open), job = open;
    pane.hidden = row < 0;
    pane.replaceChildren();
    if (row < 0) return;
    pane.setAttribute('aria-label', 'Result of ' + job);
    var bar = make('div', 'fnt-pane-top', pane), title = make('b', '', bar), body = make('div', 'fnt-pane-body', pane);
    var order = table.order(), place = order.indexOf(row);
    var state = last = read(opens.state, row);
    title.textContent = job;
    make('span', 'fnt-state fnt-state-' + state.toLowerCase().replace(/\W+/g, '-'), bar).textContent = state;
    var step = function (by) { open = null; toggle(nameOf(order[place + by])); table.reveal(place + by); };
    var before = addButton(bar, '‹', 'Previous row', function () { step(-1); });
    var after = addButton(bar, '›', 'Next row', function () { step(1); });
    before.disabled = place <= 0;
    after.disabled = place < 0 || place >= order.length - 1;
    addButton(bar, '×', 'Close', function () { isFocused = job; toggle(job); });
    fill(body, job, row);
  }

  function fill(body, job, row) {
    var state = read(opens.state, row), reason = read(opens.reason, row), saved = opens.saved[job];
    var say = function (text, code) {
      if (open !== job) return;
      body.replaceChildren();
      make('p', '', body).textContent = text;
      if (code) make('code', '', make('p', 'fnt-quiet', body)).textContent = code;
    };
    var isShared = root.closest('[data-fn-shared]');  // a colleague's job, which fn.job cannot find
    var value = isShared ? '' : 'fn.job(' + JSON.stringify(job) + (opens.is_named ? ', profile=' + JSON.stringify(opens.profile) : '') + ')';
    if (state && state !== 'Complete') {
      if (reason) return say(reason, value && value + '.logs()');
      return say({ Running: 'This job is running; its result appears here.', 'In Queue': 'This job is queued; its result appears here.',
        Deleted: 'This job was deleted.' }[state] || 'This job has no result.');
    }
    if (saved) return put(body, saved);
    say('Loading the result …');
    var detail = {
      job: job, profile: opens.profile || null,
      show: function (html) { if (open === job) put(body, html); },
      fail: function (text) { say(text, value); }
    };
    var isFree = root.dispatchEvent(new CustomEvent('fn-open-job', { bubbles: true, cancelable: true, detail: detail }));
    if (isFree) say('The result of this row is not in this document. In a cell, this shows it:', value);
  }

  // A stage in the graph of a pipeline, above the table in the same output, opens its row.
  function openStage(event) {
    var stage = event.target.closest('[data-fn-stage]'), row = stage ? rowOf(stage.dataset.fnStage) : -1;
    if (row < 0 || !root.isConnected) return;
    open = null;
    toggle(nameOf(row));
    table.reveal(Math.max(0, table.order().indexOf(row)));
    pane.scrollIntoView({ block: 'nearest' });
  }

  setTimeout(function () {
    var output = root.closest('.jp-OutputArea');
    if (output) output.addEventListener('click', openStage);
    if (!kept.open || rowOf(kept.open) < 0) return;
    open = kept.open;
    table.paint();
    show();
  });
  return {
    dress: dress, beforePaint: beforePaint, afterPaint: afterPaint,
    remember: function (order) { Object.assign(kept, order); },
    recall: function () { return kept; },
    nameOf: nameOf,
    open: function (row) {
      open = null;
      toggle(nameOf(row));
      table.reveal(Math.max(0, table.order().indexOf(row)));
    },
    replace: function (next) {
      data = next;
      opens = next.opens;
      if (open !== null && (rowOf(open) < 0 || read(opens.state, rowOf(open)) !== last)) show();
    }
  };
})
