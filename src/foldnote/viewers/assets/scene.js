// Draws one scene into the element before this script. Comments and indentation are taken out when it is written.
(function (data, dress) {
  var script = document.currentScript;
  var root = (script && script.closest && script.closest('.fnv-view')) || document.getElementById(data.id);
  if (!root || root.dataset.fnDrawn) return;
  root.dataset.fnDrawn = '1';
  var find = function (name) { return root.querySelector('.fnv-' + name); };
  var stage = find('stage'), note = find('note'), words = find('words');
  var make = function (tag, name, parent) {
    var node = document.createElement(tag);
    node.className = 'fnv-' + name;
    return parent.appendChild(node);
  };

  function fail(title, advice) {
    note.hidden = false;
    note.replaceChildren(document.createElement('strong'), document.createElement('p'));
    note.firstChild.textContent = title;
    note.lastChild.textContent = advice + ' The description below says what the structure holds.';
    words.open = true;
    stage.style.height = '';
    find('canvas').replaceChildren();
    root.dataset.fnState = 'failed';
  }

  function within(promise, seconds) {
    return Promise.race([promise, new Promise(function (_, refuse) {
      setTimeout(function () { refuse(new Error('no answer after ' + seconds + ' s')); }, seconds * 1000);
    })]);
  }

  function here() {
    if (window.$3Dmol && window.$3Dmol.createViewer) return window.$3Dmol;
    throw new Error('absent');
  }

  // The notebook server has the same file; only this page's own origin is asked.
  function fromServer() {
    var config = document.getElementById('jupyter-config-data');
    var base = (config && JSON.parse(config.textContent).baseUrl) || document.body.dataset.baseUrl;
    if (!base) throw new Error('no notebook server on this page');
    var url = new URL(base.replace(/\/?$/, '/') + data.served, location.href);
    if (url.origin !== location.origin) throw new Error('the notebook server is another site');
    return fetch(url, { credentials: 'same-origin' }).then(function (answer) {
      if (!answer.ok) throw new Error('the server answered ' + answer.status);
      return answer.text();
    }).then(function (text) {
      if (!window.$3Dmol) new Function('exports', 'module', 'define', 'require', text).call(window);
      return here();
    });
  }

  async function library() {
    var ways = [here, function () { return within(Promise.resolve(window.$3Dmolpromise), 15).then(here); }, function () { return within(fromServer(), 30); }];
    var fault;
    for (var way of ways) {
      try { return await way(); } catch (error) { fault = error; }
    }
    throw fault;
  }

  function canDraw() {
    if (window.foldnoteWebGL === undefined) {
      var context = document.createElement('canvas').getContext('webgl2');
      window.foldnoteWebGL = !!context;
      var end = context && context.getExtension('WEBGL_lose_context');
      if (end) end.loseContext();
    }
    return window.foldnoteWebGL;
  }

  function unpack(text) {
    var bytes = Uint8Array.from(atob(text), function (letter) { return letter.charCodeAt(0); });
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  }

  function ground() {
    for (var node = stage; node; node = node.parentElement) {
      var parts = getComputedStyle(node).backgroundColor.match(/[\d.]+/g);
      if (parts && (parts.length < 4 || parts[3] > 0)) {
        return '#' + parts.slice(0, 3).map(function (part) { return (+part | 256).toString(16).slice(1); }).join('');
      }
    }
    return '#ffffff';
  }

  function describe(atom) {
    var number = atom.resi + (atom.icode || '').trim();
    var region = '';
    (data.marks[atom.model] || []).forEach(function (mark) {
      if (mark.chain === atom.chain && mark.numbers.indexOf(number) >= 0) region = mark.label;
    });
    return 'Chain ' + atom.chain + ' · ' + atom.resn + ' ' + number + (region ? ' · ' + region : '');
  }

  function addHands(viewer) {
    var first = viewer.getView(), awake = false;
    var hover = make('output', 'hover', stage), tools = make('div', 'tools', stage);
    var reset = tools.appendChild(document.createElement('button'));
    reset.type = 'button';
    reset.textContent = 'Reset view';
    var fit = 1;
    // 3Dmol.js fits a structure to the height; in a picture that is narrower than that its sides would be cut off.
    var adapt = function () {
      var wanted = Math.min(1, stage.clientWidth / (1.2 * stage.clientHeight));
      if (!wanted || Math.abs(wanted / fit - 1) < 0.02) return;
      viewer.zoom(wanted / fit);
      fit = wanted;
    };
    var flight = 0;
    // By the clock and not by frames, so that it takes no longer without a graphics card; a later one takes its place.
    var fly = function (selection) {
      cancelAnimationFrame(flight);
      var from = viewer.getView(), start = performance.now();
      viewer.zoomTo(selection);
      var to = viewer.getView(), span = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 350;
      (function step() {
        var part = span ? Math.min(1, (performance.now() - start) / span) : 1;
        viewer.setView(to.map(function (value, index) { return from[index] + (value - from[index]) * part; }));
        if (part < 1) flight = requestAnimationFrame(step);
      })();
    };
    var again = function () {
      cancelAnimationFrame(flight);
      viewer.setView(first);
      fit = 1;
      adapt();
      viewer.render();
    };
    new ResizeObserver(adapt).observe(stage);
    reset.onclick = again;
    viewer.setHoverable({}, true, function (atom) { hover.textContent = describe(atom); }, function () { hover.textContent = ''; });
    viewer.render();
    // The wheel scrolls the notebook until the picture was clicked, so that nobody gets stuck in it.
    stage.addEventListener('pointerdown', function () { awake = true; });
    stage.addEventListener('pointerleave', function () { awake = false; });
    stage.addEventListener('wheel', function (event) { if (!awake && !event.ctrlKey) event.stopPropagation(); }, true);
    var keys = {
      ArrowLeft: [-10, 'y'], ArrowRight: [10, 'y'], ArrowUp: [-10, 'x'], ArrowDown: [10, 'x'], '+': 1.2, '=': 1.2, '-': 1 / 1.2
    };
    stage.addEventListener('keydown', function (event) {
      var act = keys[event.key];
      if (event.key === 'Home') again();
      else if (Array.isArray(act)) viewer.rotate(act[0], act[1]);
      else if (act) viewer.zoom(act);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    // Enter and Space belong to what they press, not to the notebook's shortcuts.
    root.addEventListener('keydown', function (event) {
      var isPress = event.key === 'Enter' || event.key === ' ';
      if (isPress && !event.shiftKey && event.target.closest('button, summary')) event.stopPropagation();
    });
    root.querySelectorAll('.fnv-legend li').forEach(function (item, index) {
      var wanted = data.targets[index];
      if (!wanted) return;
      var go = document.createElement('button');
      go.type = 'button';
      go.title = 'Show in the picture';
      go.append.apply(go, Array.from(item.childNodes));
      go.onclick = function () { fly(wanted); };
      item.appendChild(go);
    });
    var hint = document.createElement('p');
    hint.className = 'fnv-hint';
    hint.textContent = 'Drag to turn, click and then scroll to zoom; or use the arrow keys, + and −. Choose a line of the legend to look at it.';
    stage.after(hint);
  }

  function followTheme(viewer) {
    var paint = function () {
      if (!root.isConnected) { eyes.disconnect(); return; }
      viewer.setBackgroundColor(ground());
      viewer.render();
    };
    var eyes = new MutationObserver(function () { setTimeout(paint, 50); });
    eyes.observe(document.body, { attributes: true });
    eyes.observe(document.documentElement, { attributes: true });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  }

  async function draw() {
    note.querySelector('strong').textContent = 'Drawing…';
    note.querySelector('p').textContent = '';
    if (!canDraw()) {
      return fail('No 3D view: this browser gives no WebGL.', 'Turn on hardware acceleration in its settings, or open the notebook in another browser.');
    }
    if (!window.DecompressionStream) {
      return fail('No 3D view: this browser is too old.', 'Use a version from 2023 or later.');
    }
    var engine;
    try {
      engine = await library();
    } catch (error) {
      return fail('No 3D view: 3Dmol.js, which draws it, is not on this page (' + error.message + ').',
        'In JupyterLab, see that the foldnote extension is enabled and reload the page. Elsewhere, run "foldnote.viewers.load_script()" in a cell, then this cell again.');
    }
    try {
      stage.style.height = data.height + 'px';
      var texts = await Promise.all(data.models.map(function (model) { return unpack(model.data); }));
      var viewer = engine.createViewer(find('canvas'), { backgroundColor: ground(), hoverDuration: 50 });
      texts.forEach(function (text, index) {
        var model = viewer.addModel(text, data.models[index].format, { keepH: true });
        if (!model.selectedAtoms({}).length) throw new Error('it finds no atoms in ' + data.models[index].name);
      });
      window['viewer_' + data.id] = viewer;
      dress(viewer);
      viewer.render();
      addHands(viewer);
      followTheme(viewer);
      note.hidden = true;
      words.open = false;
      root.dataset.fnState = 'drawn';
    } catch (error) {
      fail('No 3D view: 3Dmol.js cannot draw this structure (' + (error.message || error) + ').', 'The file itself can still be saved and opened elsewhere.');
    }
  }
  draw();
})
