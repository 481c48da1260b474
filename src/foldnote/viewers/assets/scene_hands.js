// Controls of a view: buttons, menus, the wheel and keys. Concatenated with ``scene.js``.
function make(tag, name, parent) {
  var node = document.createElement(tag);
  node.className = 'fnv-' + name;
  return parent.appendChild(node);
}

function addChoice(tools, word, names, first, change) {
  var select = tools.appendChild(document.createElement('select'));
  select.setAttribute('aria-label', word);
  select.title = word;
  names.forEach(function (pair) { select.add(new Option(pair[1], pair[0], false, pair[0] === first)); });
  select.onchange = function () { change(select.value); };
}

function addButton(tools, word, title, act) {
  var button = tools.appendChild(document.createElement('button'));
  button.type = 'button';
  button.textContent = word;
  button.title = title;
  button.onclick = act;
  return button;
}

function addCheck(bar, word, color, change) {
  var label = bar.appendChild(document.createElement('label'));
  var box = label.appendChild(document.createElement('input'));
  box.type = 'checkbox';
  box.checked = true;
  box.onchange = function () { change(box.checked); };
  make('span', 'swatch', label).style.backgroundColor = color;
  make('span', 'name', label).textContent = word;
  return box;
}

function addTick(parent, word, isOn, change) {
  var label = parent.appendChild(document.createElement('label')), box = label.appendChild(document.createElement('input'));
  box.type = 'checkbox';
  box.checked = isOn;
  label.append(' ' + word);
  box.onchange = function () { change(box.checked); };
}

// The wheel scrolls the notebook until the picture is clicked, so that scrolling does not get stuck in it.
function guardWheel(stage) {
  var awake = false;
  stage.addEventListener('pointerdown', function () { awake = true; });
  stage.addEventListener('pointerleave', function () { awake = false; });
  stage.addEventListener('wheel', function (event) { if (!awake && !event.ctrlKey) event.stopPropagation(); }, true);
}

// Degrees and axis of a rotation, or a zoom factor.
var KEYS = {
  ArrowLeft: [-10, 'y'], ArrowRight: [10, 'y'], ArrowUp: [-10, 'x'], ArrowDown: [10, 'x'], '+': 1.2, '=': 1.2, '-': 1 / 1.2
};

// ``act`` returns whether it handled a key of the picture.
function listenToKeys(root, stage, act) {
  stage.addEventListener('keydown', function (event) {
    if (event.target !== stage || event.key === 'Escape' || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  root.addEventListener('keydown', function (event) {
    if (event.key !== 'Escape' || !act('Escape')) return;
    event.preventDefault();
    event.stopPropagation();
    if (!root.contains(document.activeElement)) stage.focus();
  });
  // Enter and Space activate the focused control, not the notebook's shortcuts.
  root.addEventListener('keydown', function (event) {
    var isPress = event.key === 'Enter' || event.key === ' ';
    if (isPress && !event.shiftKey && event.target.closest('button, summary')) event.stopPropagation();
    if (event.target.matches('select, input') && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
}
