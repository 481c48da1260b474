// A box around a part of a structure: seven handles move its faces and its centre, by dragging or with the arrow keys.
// ``scene_parts.js`` and ``scene_hands.js`` are concatenated before it.
const STEP_A = 0.5, EVERY_MS = 100, LEAST_PIXELS = 3;
const EDGE = '#d6006e', AXES = ['x', 'y', 'z'];
const KEY_SIGNS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const asPoint = values => ({ x: values[0], y: values[1], z: values[2] });
const round = value => Math.round(value * 10) / 10;

/** Returns the twelve edges of a box, as pairs of corners. */
function listEdges(box) {
  const corner = signs => signs.map((sign, axis) => box[axis] + (sign * box[axis + 3]) / 2);
  return [0, 1, 2].flatMap(axis => [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(others => [-1, 1].map(end => {
    const signs = [...others];
    signs.splice(axis, 0, end);
    return corner(signs);
  })));
}

/** Returns the box after one face moved by ``shift`` Å along its axis; the opposite face stays. */
function moveFace(box, axis, sign, shift, limits) {
  const fixed = box[axis] - (sign * box[axis + 3]) / 2;
  const size = Math.min(limits[1], Math.max(limits[0], box[axis + 3] + sign * shift));
  const moved = [...box];
  moved[axis + 3] = round(size);
  moved[axis] = Math.round((fixed + (sign * moved[axis + 3]) / 2) * 1000) / 1000;
  return moved;
}

async function open(model, stage, said) {
  if (!canDraw()) throw new Error('this browser does not provide WebGL');
  const engine = await library(model.get('_served'));
  const bytes = Uint8Array.from(atob(model.get('_packed')), letter => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const scene = await new Response(unpacked).json();
  const canvas = make('div', 'canvas', stage), cover = make('div', 'cover', stage);
  canvas.setAttribute('aria-hidden', 'true');
  const viewer = engine.createViewer(canvas, { backgroundColor: ground(stage), ...fineness(true) });
  // Without a grid of viewers, 3Dmol.js leaves its row and column undefined and cannot compute its position on the
  // screen.
  viewer.row = viewer.col = 0;
  viewer.addModel(turnBack(scene.pieces), scene.format);
  viewer.setStyle({}, { cartoon: { color: '#8da2b8' } });
  viewer.setStyle({ hetflag: true }, stick({ color: '#2e8b57' }));
  viewer.setStyle({ resn: ['HOH', 'WAT', 'DOD'] }, {});
  const limits = model.get('_limits'), handles = [];
  let box = model.get('box'), shapes = [], later = 0, wanted = 0;

  function draw() {
    shapes.forEach(shape => viewer.removeShape(shape));
    shapes = box.length !== 6 ? [] : [
      viewer.addBox({ center: asPoint(box), dimensions: { w: box[3], h: box[4], d: box[5] }, color: EDGE, opacity: 0.08 }),
      ...listEdges(box).map(([start, end]) => viewer.addCylinder({ start: asPoint(start), end: asPoint(end), radius: 0.12, color: EDGE }))
    ];
    viewer.render();
    const volume = Math.round(box[3] * box[4] * box[5]).toLocaleString('en-US');
    said.textContent = box.length === 6 ? `${box.slice(3).map(edge => edge.toFixed(1)).join(' × ')} Å · ${volume} Å³` : 'No box yet';
  }

  function locate(point) {
    const at = viewer.modelToScreen(asPoint(point)), bounds = stage.getBoundingClientRect();
    return [at.x - bounds.left - window.scrollX, at.y - bounds.top - window.scrollY];
  }

  function place() {
    cancelAnimationFrame(wanted);
    wanted = requestAnimationFrame(() => handles.forEach(handle => {
      handle.hidden = box.length !== 6;
      if (handle.hidden) return;
      const [x, y] = locate(handle.find(box));
      handle.style.transform = `translate(${x}px, ${y}px)`;
    }));
  }

  // The page is redrawn at once; Python is notified a few times per second.
  function take(moved) {
    box = moved;
    draw();
    place();
    later ||= setTimeout(() => {
      later = 0;
      model.set('box', box);
      model.save_changes();
    }, EVERY_MS);
  }

  /** Returns the screen pixels per Å along an axis. */
  function measure(axis) {
    const from = box.slice(0, 3), to = [...from];
    to[axis] += 1;
    const [a, b] = [locate(from), locate(to)];
    return [b[0] - a[0], b[1] - a[1]];
  }

  function addHandle(name, find, drag, press) {
    const handle = cover.appendChild(document.createElement('button'));
    handle.type = 'button';
    handle.className = 'fnv-handle';
    handle.setAttribute('aria-label', name);
    handle.title = `${name}: drag, or press the arrow keys`;
    handle.find = find;
    handles.push(handle);
    let begun = null;
    handle.addEventListener('pointerdown', event => {
      begun = { x: event.clientX, y: event.clientY, box: [...box] };
      handle.setPointerCapture(event.pointerId);
      handle.focus();
      event.preventDefault();
    });
    handle.addEventListener('pointermove', event => {
      if (begun) take(drag(begun.box, event.clientX - begun.x, event.clientY - begun.y));
    });
    const end = () => {
      begun = null;
    };
    handle.addEventListener('pointerup', end);
    handle.addEventListener('pointercancel', end);
    handle.addEventListener('keydown', event => {
      const signs = KEY_SIGNS[event.key];
      if (!signs) return;
      event.preventDefault();
      event.stopPropagation();
      take(press(box, signs));
    });
    return handle;
  }

  for (const axis of [0, 1, 2]) {
    for (const sign of [1, -1]) {
      const find = now => now.slice(0, 3).map((value, other) => (other === axis ? value + (sign * now[axis + 3]) / 2 : value));
      const drag = (from, x, y) => {
        const [a, b] = measure(axis), length = a * a + b * b;
        return length < LEAST_PIXELS ** 2 ? from : moveFace(from, axis, sign, (x * a + y * b) / length, limits);
      };
      // Right and up enlarge the box, left and down shrink it, whichever way the face points.
      const press = (from, [x, y]) => moveFace(from, axis, sign, sign * STEP_A * (x - y), limits);
      addHandle(`Face of the box towards ${sign > 0 ? '+' : '−'}${AXES[axis]}`, find, drag, press);
    }
  }
  const shift = (from, x, y) => {
    const by = viewer.screenOffsetToModel(x, y);
    return from.map((value, index) => (index < 3 ? Math.round((value + by[AXES[index]]) * 10) / 10 : value));
  };
  const slide = (from, [x, y]) => {
    const pixels = Math.max(...[0, 1, 2].map(axis => Math.hypot(...measure(axis)))) * STEP_A;
    return shift(from, x * pixels, y * pixels);
  };
  addHandle('Centre of the box', now => now.slice(0, 3), shift, slide).classList.add('fnv-middle');

  withoutDrawing(viewer, () => {
    viewer.zoomTo();
    viewer.zoom(1.2);
    // Viewed along an axis, its two handles would overlap.
    viewer.rotate(35, 'y');
    viewer.rotate(20, 'x');
  });
  viewer.setViewChangeCallback(place);
  model.on('change:box', () => {
    const given = model.get('box');
    if (String(given) === String(box)) return;
    box = given;
    draw();
    place();
  });
  draw();
  guardWheel(stage);
  const resized = new ResizeObserver(() => {
    viewer.resize();
    place();
  });
  resized.observe(stage);
  const themed = new MutationObserver(() => setTimeout(() => {
    viewer.setBackgroundColor(ground(stage));
    viewer.render();
  }, 50));
  themed.observe(document.body, { attributes: true });
  stage.dataset.fnState = 'drawn';
  return () => {
    resized.disconnect();
    themed.disconnect();
    const context = canvas.querySelector('canvas')?.getContext('webgl2');
    context?.getExtension('WEBGL_lose_context')?.loseContext();
  };
}

async function render({ model, el }) {
  const root = make('div', 'box', el), stage = make('div', 'stage', root), bar = make('div', 'bar', root);
  stage.setAttribute('role', 'group');
  stage.setAttribute('aria-label', 'The receptor and the box in 3D');
  const said = bar.appendChild(document.createElement('output'));
  bar.appendChild(document.createElement('span')).textContent = 'Drag a handle, or press the arrow keys on it; drag beside the handles to turn, click and then scroll to zoom.';
  try {
    return await open(model, stage, said);
  } catch (error) {
    stage.dataset.fnState = 'failed';
    stage.textContent = `No 3D view: ${error.message || error}. The numbers above give the box.`;
  }
}
