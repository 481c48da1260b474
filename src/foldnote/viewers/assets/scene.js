// Draws one scene into ``root``. Comments and indentation are removed when it is written into a page.
(function (data, dress, scene, root) {
  var find = function (name) { return root.querySelector('.fnv-' + name); };
  var stage = find('stage'), note = find('note'), words = find('words');
  var engine, viewer, kept, color = data.color, style = data.style, step = 0, isChosen = false;

  scene.bases.forEach(function (base) { base[4] = partRuns(base[4]); });

  function fail(title, advice) {
    release();
    showStill();
    note.hidden = false;
    note.replaceChildren(document.createElement('strong'), document.createElement('p'));
    note.firstChild.textContent = title;
    note.lastChild.textContent = advice + ' The summary below describes the structure.';
    words.open = true;
    stage.style.height = '';
    root.dataset.fnState = 'failed';
  }

  // The commands that Python recorded apply until colour, style or chains are chosen.
  function repaint() {
    withoutDrawing(viewer, function () {
      viewer.removeAllSurfaces();
      viewer.removeAllLabels();
      if (isChosen || hidden.size || !seen.isPlain() || assembly.isOn()) paintChoice(); else paintRecorded();
      (root.fnSelection || []).forEach(function (part) { viewer.addStyle(part[0], part[1]); });
      assembly.paint(viewer);
      showStep();
      focus.paint(viewer);
      seen.paint(viewer);
      measures.paint(viewer);
      letters.mark(focus.found());
    });
    viewer.render();
  }

  function paintRecorded() {
    var place = viewer.getView();
    viewer.removeAllShapes();
    [focus, measures].forEach(function (one) { one.forget(); });
    dashes = [];
    dress(viewer);
    showLater();
    viewer.setView(place);
  }

  // The recorded commands omit the molecules of later steps, which the first picture does not show.
  function showLater() {
    var later = new Set();
    scene.steps.slice(1).forEach(function (one) { one.models.forEach(function (index) { later.add(index); }); });
    scene.others.filter(function (part) { return later.has(part[0].model); }).forEach(function (part) { viewer.setStyle(part[0], part[1]); });
  }

  function paintChoice() {
    var look = scene.looks[color], paints = look ? inkResidues(look, scene) : scene.chain.paints;
    isPainted = true;
    viewer.setStyle({}, {});
    paints.forEach(function (part) { viewer.setStyle(part[0], styles[style](part[1], part[2])); });
    if (style === 'surface') (look ? paints : scene.chain.surfaces).filter(function (part) { return !part[2] || !part[2].opacity; }).filter(function (part) { return isShown(part) && seen.hasChain(part[0]); }).forEach(function (part) {
      assembly.list(part[0]).forEach(function (who) {
        viewer.addSurface(window.$3Dmol.SurfaceType.VDW, Object.assign({ opacity: scene.opacity }, part[1]), who);
      });
    });
    scene.others.forEach(function (part) { viewer.setStyle(part[0], part[1]); });
    if (color === 'chain' && !hidden.has(0)) scene.labels.filter(function (label) { return seen.hasChain(label[2]); }).forEach(function (label) { viewer.addLabel(label[0], label[1]); });
    showLegend();
  }

  // Each of several superposed structures can be hidden. Tags are at residues of the first.
  var hidden = new Set();
  function isShown(part) { return !hidden.has(part[0].model); }

  function addToggles() {
    var bar = document.createElement('div');
    bar.className = 'fnv-toggles';
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'Structures shown');
    var boxes = scene.toggles.map(function (one, index) {
      return addCheck(bar, one[0], one[1], function (isOn) {
        if (isOn) hidden.delete(index); else hidden.add(index);
        update();
      });
    });
    function update() {
      boxes.forEach(function (box, index) { box.checked = !hidden.has(index); });
      wake(true).then(function () { if (viewer) repaint(); });
    }
    if (boxes.length > 2) {
      addButton(bar, 'All', 'Show all structures', function () { hidden.clear(); update(); });
      addButton(bar, 'First only', 'Show the reference only', function () {
        boxes.forEach(function (box, index) { if (index) hidden.add(index); else hidden.delete(index); });
        update();
      });
    }
    stage.after(bar);
  }

  function choose(change) {
    change();
    isChosen = true;
    repaint();
  }

  // Interface of this view for the tools that inspect, measure and hide.
  var view = {
    scene: scene, root: root, stage: stage, find: find, repaint: function () { return wake(true).then(function () { if (viewer) repaint(); }); },
    viewer: function () { return viewer; },
    listSeen: function () { return viewer.selectedAtoms({}).filter(function (atom) { return !viewer.getModel(atom.model).hidden && seen.isSeen(atom); }); },
    fly: fly,
    turn: function (place) { travel(viewer.getView(), place); },
    look: function (atom) { focus.residue(atom); },
    found: function () { return focus.found(); },
    kin: function (who) { return assembly.list(who); },
    lines: listLines,
    isSurface: function () { return style === 'surface'; },
    rebuild: function () {
      if (!viewer) return Promise.resolve();
      kept = undefined;
      release();
      return wake(true);
    }
  };
  var assembly = makeAssembly(view), seen = makeVisibility(view), focus = makeFocus(view), measures = makeMeasures(view), places = makeViews(view), letters = makeSequence(view);

  // Of the models of the steps, one is visible, with its contacts. Python styles only the first of them; the other
  // models of a stack are shown only after the first repaint.
  var isGreasy = scene.few, dashes = [], ALL = -1, played = 0, isPainted = false;
  function showStep() {
    scene.steps.forEach(function (one, place) {
      one.models.forEach(function (index) {
        var model = viewer.getModel(index);
        if (place === step || step === ALL) model.show(); else model.hide();
      });
    });
    scene.toggles.forEach(function (one, index) {
      var model = viewer.getModel(index);
      if (hidden.has(index)) model.hide(); else model.show();
    });
    var now = scene.steps[step];
    if (now) now.contacts.forEach(function (who) { viewer.addStyle(who, stick({ color: scene.touched })); });
    dashes.forEach(function (one) { viewer.removeShape(one); });
    dashes = now ? drawLines(viewer, now.lines).concat(isGreasy ? drawLines(viewer, now.hydrophobic, 0.05) : []) : [];
    if (find('panel')) now ? fillPanel(find('panel'), now, scene) : find('panel').replaceChildren();
    var label = find('step');
    if (label) label.textContent = step === ALL ? scene.steps.length + ' superposed' : (step + 1) + ' of ' + scene.steps.length + (scene.stack ? '' : ' · ' + now.label);
    if (find('choice')) find('choice').value = step;
    if (find('slide') && step !== ALL) {
      find('slide').value = step;
      find('slide').setAttribute('aria-valuetext', now.label);
    }
    letters.mark(focus.found());
    if (now) document.dispatchEvent(new CustomEvent('fn-step-shown', { detail: { key: scene.key, step: step } }));
  }

  // All dashed lines that are visible now.
  function listLines() {
    var now = scene.steps[step];
    return (now ? now.lines.concat(isGreasy ? now.hydrophobic : []) : []).concat(focus.lines(), measures.lines());
  }

  // The camera stays, so that poses at the same site can be compared; it moves to a pose at another site.
  function goTo(place) {
    if (scene.stack) return wake(true).then(function () {
      step = place === ALL ? ALL : (place + scene.steps.length) % scene.steps.length;
      if (!viewer) return;
      if (style === 'surface' || !isPainted || focus.isOn()) return choose(function () {});
      showStep();
      viewer.render();
    });
    var before = findMiddle(viewer, scene.steps[step].models);
    step = (place + scene.steps.length) % scene.steps.length;
    repaint();
    var after = findMiddle(viewer, scene.steps[step].models);
    if (measureApart(before, after) > 6) goNear();
  }

  function stop() {
    clearInterval(played);
    played = 0;
    if (find('play')) find('play').textContent = 'Play';
  }

  function play() {
    if (played) return stop();
    played = setInterval(function () { if (root.isConnected && viewer) next(1); else stop(); }, 400);
    find('play').textContent = 'Pause';
  }

  // After "all superposed", the first or the last model is next.
  function next(by) { goTo(step === ALL ? (by > 0 ? 0 : scene.steps.length - 1) : (step + by + scene.steps.length) % scene.steps.length); }

  function addSlider(bar) {
    var slider = make('input', 'slide', bar);
    Object.assign(slider, { type: 'range', min: 0, max: scene.steps.length - 1, value: step, oninput: function () { stop(); goTo(+slider.value); } });
    slider.setAttribute('aria-label', 'Go to a ' + scene.noun);
  }

  // The models of one molecule: a menu with names and scores, and the arrow keys.
  function addMenu(bar) {
    var menu = bar.appendChild(document.createElement('select'));
    menu.className = 'fnv-choice';
    menu.setAttribute('aria-label', 'Which ' + scene.noun + ' is shown');
    scene.steps.forEach(function (one, place) { menu.add(new Option(one.label, place)); });
    menu.add(new Option('All superposed', ALL));
    menu.onchange = function () { stop(); goTo(+menu.value); };
    if (scene.steps.length > 2) addSlider(bar);
    if (scene.play) {
      addButton(bar, 'Play', 'Show the models one after another', play).className = 'fnv-play';
    }
    bar.addEventListener('keydown', function (event) {
      var by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      stop();
      next(by);
    });
  }

  function goNear() { fly({ model: scene.steps[step].models }, scene.bases.length ? scene.around : 1); }

  function addSteps() {
    var isTold = scene.steps.some(function (one) { return one.panel || one.drawing >= 0; });
    if (isTold) stage.after(make('div', 'panel', root));
    if (!isTold && scene.steps.length < 2) return;
    var bar = document.createElement('div');
    bar.className = 'fnv-steps';
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'Choose what is shown');
    var isMany = scene.steps.length > 1;
    if (isMany) addButton(bar, '◀', 'The ' + scene.noun + ' before', function () { stop(); next(-1); }).ariaLabel = 'The ' + scene.noun + ' before';
    if (isMany) addButton(bar, '▶', 'The next ' + scene.noun, function () { stop(); next(1); }).ariaLabel = 'The next ' + scene.noun;
    if (isMany && scene.stack) addMenu(bar);
    make('output', 'step', bar);
    if (scene.hydrophobic) addCheck(bar, 'Hydrophobic contacts', scene.hydrophobic, function (isOn) {
      isGreasy = isOn;
      view.repaint();
    }).checked = isGreasy;
    if (scene.bases.length && !scene.stack) addButton(bar, 'Zoom to ' + scene.noun, 'Bring the ' + scene.noun + ' and what is around it into the picture', goNear);
    stage.after(bar);
  }

  // Pictures in one grid rotate together.
  function follow() {
    var grid = root.parentElement && root.parentElement.closest('.fnv-grid');
    if (!grid) return;
    viewer.setViewChangeCallback(function (view) {
      if (window.foldnoteTurning) return;
      window.foldnoteTurning = true;
      live.forEach(function (other) { if (other !== self && grid.contains(other.root)) other.turnTo(view); });
      window.foldnoteTurning = false;
    });
  }

  // Position and zoom remain the picture's own; the rotation is copied.
  function turnTo(view) {
    viewer.setView(viewer.getView().slice(0, 4).concat(view.slice(4)));
  }

  // Python wrote and escaped the legends; entries of the chain legend bring what they name into view.
  function showLegend() {
    find('legend').innerHTML = scene.legends[color];
    if (color === 'chain') root.querySelectorAll('.fnv-legend li').forEach(function (item, index) {
      var wanted = scene.chain.targets[index];
      if (!wanted) return;
      var go = document.createElement('button');
      go.type = 'button';
      go.title = 'Show in the picture';
      go.append.apply(go, Array.from(item.childNodes));
      go.onclick = function () { wake(true).then(function () { if (viewer) fly(wanted, scene.bases.length ? 0.7 : 1); }); };
      item.appendChild(go);
    });
  }

  function savePicture(wish) {
    wake(true).then(function () { return drawPicture(viewer, stage, wish); }).then(function (png) {
      give(new Blob([png], { type: 'image/png' }), find('head').textContent || 'structure', '.png');
    });
  }

  function saveScript(program) {
    return wake(true).then(function () { return loadScripts(data.scripts); }).then(function (write) {
      if (viewer) give(new Blob([write(view, program.name)], { type: 'text/plain' }), find('head').textContent || 'structure', program.suffix);
      return '';
    }, function (error) { return 'No script: the code that writes it is not on this page (' + error.message + '). Run the cell again, or call save("view' + program.suffix + '") of the scene.'; });
  }

  // A button that shows and removes what ``open`` creates below the picture.
  function addPanel(tools, word, title, name, open, filled, closed) {
    addButton(tools, word, title, function () {
      var panel = find(name);
      if (panel) panel.remove(); else stage.after(open());
      this.setAttribute('aria-expanded', String(!panel));
      if (panel) return closed && closed();
      if (filled) filled();
      var first = find(name).querySelector('input, select');
      if (first) first.focus();
    }).setAttribute('aria-expanded', 'false');
  }

  // Escape leaves one mode after another: clicked atoms, measuring, the close-up.
  function leave() {
    var button = find('tools') && find('tools').querySelector('.fnv-measuring');
    if (measures.isOn()) return measures.back() || (button.click(), true);
    if (!focus.isOn()) return false;
    focus.clear();
    return true;
  }

  function addFullScreen(tools) {
    if (!root.requestFullscreen) return;
    var button = addButton(tools, 'Full screen', 'Fill the screen', function () {
      if (document.fullscreenElement === root) document.exitFullscreen(); else root.requestFullscreen().catch(function () { button.remove(); });
    });
    root.addEventListener('fullscreenchange', function () { button.textContent = document.fullscreenElement === root ? 'Leave full screen' : 'Full screen'; });
  }

  // A table of the steps selects one.
  if (scene.steps.length > 1) document.addEventListener('fn-step', function (event) {
    if (event.detail.key !== scene.key || !root.isConnected || event.detail.step === step) return;
    wake(true).then(function () { if (viewer) goTo(event.detail.step); });
  });

  // Python can also request a picture; a suspended view is resumed for it.
  root.addEventListener('fn-picture', function (event) {
    wake(true).then(function () { return drawPicture(viewer, stage, event.detail.wish); }).then(event.detail.done, event.detail.failed);
  });

  var fit, first, size, flight = 0;
  // 3Dmol.js fits a structure to the height; in a narrow picture its sides would be cut off.
  function adapt() {
    var wanted = Math.min(1, stage.clientWidth / (1.2 * stage.clientHeight));
    if (!viewer || !wanted || Math.abs(wanted / fit - 1) < 0.02) return;
    viewer.zoom(wanted / fit);
    fit = wanted;
  }

  function resize() {
    if (!viewer) return;
    if (size !== measure()) viewer.resize();
    size = measure();
    adapt();
  }

  // Timed by the clock rather than by frames, so that it takes no longer without a graphics card; a later flight
  // replaces it.
  function fly(selection, zoom) {
    var from = viewer.getView();
    withoutDrawing(viewer, function () {
      viewer.zoomTo(selection);
      if (zoom) viewer.zoom(zoom);
    });
    travel(from, viewer.getView());
  }

  function travel(from, to) {
    cancelAnimationFrame(flight);
    var start = performance.now(), span = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 350;
    (function step() {
      if (!viewer) return;
      var part = span ? Math.min(1, (performance.now() - start) / span) : 1;
      viewer.setView(to.map(function (value, index) { return from[index] + (value - from[index]) * part; }));
      if (part < 1) flight = requestAnimationFrame(step);
    })();
  }

  function resetView() {
    cancelAnimationFrame(flight);
    withoutDrawing(viewer, function () {
      viewer.setView(first);
      // The pocket is shown first; a reset shows the whole receptor, and a button returns to the pocket.
      if (scene.steps.length && scene.bases.length) {
        viewer.zoomTo();
        viewer.zoom(1.25);
      }
      fit = 1;
      adapt();
    });
    viewer.render();
  }

  // The explorer selects residues in other views, and is notified of residues picked here.
  root.addEventListener('fn-repaint', function () { if (viewer) repaint(); });

  // Each target of the pointer costs memory, so in a large structure there is one per residue.
  function watchPointer() {
    var who = isLarge() ? { atom: ['CA', "O3'", "C4'", 'P'] } : {};
    viewer.setClickable(who, true, function (atom, _, event) {
      if (measures.isOn()) measures.pick(atom);
      else if (!root.fnSelection) focus.residue(atom);
      else root.dispatchEvent(new CustomEvent('fn-pick', { detail: { chain: findOrigin(atom), number: atom.resi + (atom.icode || '').trim(), event: event } }));
    });
    viewer.setHoverable(who, true, function (atom) { find('hover').textContent = stage.matches(':hover') ? describeAtom(atom, scene, color) : ''; }, function () { find('hover').textContent = ''; });
  }

  // Created once, however often the picture is suspended and resumed.
  function addHands() {
    make('output', 'hover', stage);
    stage.addEventListener('pointerleave', function () { find('hover').textContent = ''; });
    var tools = make('div', 'tools', root);
    stage.before(tools);
    var looks = Object.keys(scene.looks).map(function (key) { return [key, 'Colour: ' + shorten(scene.looks[key].name)]; });
    if (looks.length) addChoice(tools, 'Colour by', [['chain', 'Colour: ' + scene.group]].concat(looks), color, function (value) { choose(function () { color = value; }); });
    var words = [['cartoon', 'Cartoon'], ['sticks', 'Sticks'], ['spheres', 'Spheres'], ['surface', 'Surface']];
    if (scene.bases.length) addChoice(tools, 'Style', words, style, function (value) { choose(function () { style = value; }); });
    if (assembly.hasChoices) assembly.addTo(tools);
    if (letters.hasLetters && !root.fnSelection) addPanel(tools, 'Sequence', 'Show the sequence; a letter leads to its residue', 'sequence', letters.open, function () { letters.mark(focus.found()); });
    if (seen.hasChoices) addPanel(tools, 'Show', 'Choose chains, waters and hydrogens', 'seen', function () { return seen.open(viewer); });
    addPanel(tools, 'Measure', 'Measure distances, angles and torsions between atoms', 'measure', measures.open, measures.fill, measures.close);
    tools.lastChild.classList.add('fnv-measuring');
    addPanel(tools, 'Views', 'Save the camera position, and return to it', 'places', places.open, places.fill);
    addPanel(tools, 'Save', 'Save a PNG of any size, or a script for another viewer', 'save', function () { return askForPicture(stage, savePicture, saveScript); });
    // Wrapped together, so that neither is alone in the last line.
    var last = make('span', 'last', tools);
    addButton(last, 'Reset view', 'Return to the initial view', resetView);
    addFullScreen(last);
    new ResizeObserver(resize).observe(stage);
    guardWheel(stage);
    listenToKeys(root, stage, function (key) {
      var act = KEYS[key];
      if (viewer && key === 'Escape') return leave();
      if (!viewer || !(act || key === 'Home')) return false;
      if (key === 'Home') resetView();
      else if (Array.isArray(act)) viewer.rotate(act[0], act[1]);
      else viewer.zoom(act);
      return true;
    });
    var hint = document.createElement('p');
    hint.className = 'fnv-hint';
    var isPicked = scene.bases.length && !root.fnSelection;
    hint.textContent = 'Drag to turn, click and then scroll to zoom; or use the arrow keys, + and −.' + (isPicked ? ' Click a residue to see what is around it.' : '');
    stage.after(hint);
    addSteps();
    if (scene.toggles.length) addToggles();
    addInterfaces();
    showLegend();
  }

  // Python wrote the table; each row shows its interface.
  function addInterfaces() {
    root.querySelectorAll('.fnv-interfaces tbody tr').forEach(function (row, index) {
      var cell = row.cells[0], go = document.createElement('button');
      go.type = 'button';
      go.title = 'Show this interface';
      go.append.apply(go, Array.from(cell.childNodes));
      go.onclick = function () { wake(true).then(function () { return assembly.showFile(scene.interfaces[index].targets); }).then(function () { if (viewer) focus.interface(index); }); };
      cell.appendChild(go);
    });
  }

  function followTheme() {
    var paint = function () {
      if (!viewer || !root.isConnected) return;
      withoutDrawing(viewer, function () { viewer.setBackgroundColor(ground(stage)); });
      viewer.render();
    };
    // A notebook detaches outputs that are out of sight and attaches them again: observing continues.
    var eyes = new MutationObserver(function () { setTimeout(paint, 50); });
    eyes.observe(document.body, { attributes: true });
    eyes.observe(document.documentElement, { attributes: true });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  }

  // Browsers silently drop the oldest of about 16 WebGL contexts, so only a few views are live and the others are
  // pictures.
  var live = (window.foldnoteLive = window.foldnoteLive || []);
  var MAX_LIVE = 8;
  var self = { isSeen: false, sleep: sleep, turnTo: turnTo, root: root };

  function makeRoom(isAsked) {
    live.filter(function (other) { return !other.root.isConnected; }).forEach(function (other) { other.sleep(); });
    if (live.length < MAX_LIVE) return true;
    var unseen = live.filter(function (other) { return !other.isSeen; });
    var last = unseen[0] || (isAsked && live[0]);
    if (last) last.sleep();
    return !!last;
  }

  function release() {
    var place = live.indexOf(self), canvas = find('canvas').querySelector('canvas');
    if (place >= 0) live.splice(place, 1);
    var context = canvas && (canvas.getContext('webgl2') || canvas.getContext('webgl'));
    var end = context && context.getExtension('WEBGL_lose_context');
    if (end) end.loseContext();
    find('canvas').replaceChildren();
    // Its listener of the window's size is never removed.
    if (viewer) viewer.show = function () {};
    viewer = window['viewer_' + data.id] = undefined;
  }

  function showStill(picture) {
    var still = find('still');
    if (!still) return;
    if (picture) still.src = picture;
    still.hidden = false;
  }

  function sleep() {
    if (!viewer) return;
    kept = viewer.getView();
    showStill(viewer.pngURI());
    release();
    root.dataset.fnState = 'asleep';
    note.hidden = false;
    note.replaceChildren();
    addButton(note, 'Show in 3D', 'Make this picture interactive again', function () { wake(true); });
  }

  async function prepare() {
    if (!canDraw()) {
      throw ['No 3D view: this browser does not provide WebGL.', 'Turn on hardware acceleration, or use another browser.'];
    }
    try {
      engine = await library(data.served);
    } catch (error) {
      throw ['No 3D view: 3Dmol.js, which draws it, is not on this page (' + error.message + ').',
        'In JupyterLab, enable the foldnote extension and reload the page. Elsewhere, run "foldnote.viewers.load_script()", then this cell again.'];
    }
  }

  // 3Dmol.js redraws everything whenever a picture is fitted, rotated or resized by its own observers. Redrawing is
  // suspended until all calls are made, and our observer reports a new size.
  function hold(made) {
    made.show = function () {};
    [made.divwatcher, made.intwatcher].forEach(function (watcher) { if (watcher) watcher.disconnect(); });
    size = measure();
  }

  function isLarge() { return scene.bases.reduce(function (sum, base) { return sum + base[4].length; }, 0) > 3000; }

  function measure() { return stage.clientWidth + ' ' + stage.clientHeight; }

  function build() {
    stage.style.height = data.height + 'px';
    dashes = [];
    isPainted = false;
    var made = viewer = engine.createViewer(find('canvas'), Object.assign({ backgroundColor: ground(stage), hoverDuration: 50 }, fineness(isLarge())));
    hold(made);
    scene.models.forEach(function (one) {
      var model = viewer.addModel(turnBack(one.pieces), one.format, { keepH: true, altLoc: '*' });
      if (one.format === 'cif') setNumbers(model, one.codes);
      if (one.other.length) model.removeAtoms(model.selectedAtoms({ index: one.other }));
      if (!model.selectedAtoms({}).length) throw new Error('it finds no atoms in ' + one.name);
      assembly.build(model);
      sortChains(model);
    });
    window['viewer_' + data.id] = viewer;
    // Before anything is drawn: making atoms hoverable afterwards would make 3Dmol.js rebuild every shape.
    watchPointer();
    dress(viewer);
    if (assembly.isOn()) viewer.zoomTo();
    first = viewer.getView();
    fit = 1;
    if (!find('tools')) addHands();
    showStep();
    follow();
    [focus, measures].forEach(function (one) { one.forget(); });
    if (kept || hidden.size || step || assembly.isOn() || (root.fnSelection || []).length) repaint();
    if (kept) viewer.setView(kept); else adapt();
    delete made.show;
    viewer.render();
  }

  var waking = null;
  function wake(isAsked) {
    if (viewer) {
      live.push(live.splice(live.indexOf(self), 1)[0]);
      return Promise.resolve();
    }
    return (waking = waking || rise(isAsked).finally(function () { waking = null; }));
  }

  async function rise(isAsked) {
    try {
      if (!engine) {
        note.querySelector('strong').textContent = 'Drawing…';
        note.querySelector('p').textContent = '';
        await prepare();
        followTheme();
      }
      if (!makeRoom(isAsked)) return sleepUndrawn();
      live.push(self);
      note.hidden = true;
      build();
      if (find('still')) find('still').hidden = true;
      words.open = false;
      root.dataset.fnState = 'drawn';
    } catch (error) {
      // What the page lacks is explained in one view; the others refer to it.
      if (Array.isArray(error)) {
        if ((root.closest('.jp-Notebook') || document).querySelector('[data-fn-told]')) return fail('No 3D view', 'Another view says why.');
        root.dataset.fnTold = 1;
        return fail(error[0], error[1]);
      }
      fail('No 3D view: 3Dmol.js cannot draw this structure (' + (error.message || error) + ').', 'The file can still be opened elsewhere.');
    }
  }

  function sleepUndrawn() {
    root.dataset.fnState = 'asleep';
    words.open = false;
    note.replaceChildren();
    addButton(note, 'Show in 3D', 'Another live view will rest instead', function () { wake(true); });
  }

  // Nothing is drawn before it scrolls into view.
  new IntersectionObserver(function (entries) {
    self.isSeen = entries[entries.length - 1].isIntersecting;
    if (self.isSeen && viewer && viewer.renderer && viewer.renderer.isLost()) viewer.resize();
    if (self.isSeen && root.dataset.fnState !== 'failed') wake();
  }, { rootMargin: '200px' }).observe(stage);
})
