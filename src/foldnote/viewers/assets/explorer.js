// One selection of residues, shown in and made from the 3D view, the sequence, the plots, the table and Python.
const MARK = '#d6006e';
const CHUNK = 10;
// Least distance of the numbers below a plot, as a fraction of its width.
const NEAREST = 0.1;

/** Adds an element. */
function make(tag, name, parent, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

/** Adds an SVG element. */
function draw(tag, attributes, parent) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent.appendChild(node);
  return node;
}

/** The selection as indices in the list of residues, and the gestures that change it. */
function makeChoice(model, residues) {
  const places = new Map(residues.map(([chain, number], index) => [`${chain} ${number}`, index]));
  let anchor = 0;
  const read = () => new Set(model.get('selection').map(([chain, number]) => places.get(`${chain} ${number}`)));
  const write = chosen => {
    const ordered = [...chosen].filter(index => index !== undefined).sort((a, b) => a - b);
    model.set('selection', ordered.map(index => [residues[index][0], residues[index][1]]));
    model.save_changes();
  };
  const span = (a, b) => Array.from({ length: Math.abs(b - a) + 1 }, (_, step) => Math.min(a, b) + step);
  return {
    read,
    find: (chain, number) => places.get(`${chain} ${number}`),
    clear: () => write([]),
    range: (first, last, keep) => write(new Set([...(keep ? read() : []), ...span(first, last)])),
    add: (indices, keep) => write(new Set([...(keep ? read() : []), ...indices])),
    pick: (index, event) => {
      const chosen = read();
      if (event && event.shiftKey) return write(new Set([...chosen, ...span(anchor, index)]));
      anchor = index;
      if (event && (event.ctrlKey || event.metaKey)) {
        if (!chosen.delete(index)) chosen.add(index);
        return write(chosen);
      }
      return write(chosen.size === 1 && chosen.has(index) ? [] : [index]);
    }
  };
}

/** Calls ``done`` with the first and last index that a drag over ``node`` covers. */
function onDrag(node, find, done) {
  let first = null;
  node.addEventListener('pointerdown', event => {
    first = find(event);
    node.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  node.addEventListener('pointerup', event => {
    if (first !== null) done(first, find(event), event);
    first = null;
  });
}

function describe([chain, number, letter, plddt]) {
  return `Chain ${chain} · ${letter} ${number}${typeof plddt === 'number' ? ` · pLDDT ${plddt}` : ''}`;
}

function addSequence(parent, residues, choice) {
  const box = make('div', 'fne-sequence', parent);
  box.tabIndex = 0;
  box.setAttribute('role', 'listbox');
  box.setAttribute('aria-multiselectable', 'true');
  box.setAttribute('aria-label', 'Sequence; choose residues with the arrow keys and the space bar');
  const cells = [];
  let group = null, ten = null, begin = 0, here = 0;
  residues.forEach(([chain, number, letter], index) => {
    const isFirst = index === 0 || residues[index - 1][0] !== chain;
    if (isFirst) {
      group = make('div', 'fne-chain', box);
      group.setAttribute('role', 'group');
      group.setAttribute('aria-label', `Chain ${chain}`);
      make('span', chain.length > 2 ? 'fne-name fne-long' : 'fne-name', group, chain).setAttribute('aria-hidden', 'true');
      begin = index;
    }
    if ((index - begin) % CHUNK === 0) ten = make('span', 'fne-ten', group);
    const cell = make('span', 'fne-cell', ten, letter);
    cell.id = `${box.id || 'fne'}-${Math.random().toString(36).slice(2)}`;
    cell.setAttribute('role', 'option');
    cell.setAttribute('aria-label', `${letter} ${number} of chain ${chain}`);
    cell.title = describe(residues[index]);
    cell.dataset.place = index;
    cells.push(cell);
  });
  const find = event => {
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest('.fne-cell');
    return cell && box.contains(cell) ? Number(cell.dataset.place) : null;
  };
  onDrag(box, find, (first, last, event) => {
    if (last === null || first === last) return choice.pick(first, event);
    return choice.range(first, last, event.ctrlKey || event.metaKey);
  });
  const move = to => {
    cells[here].classList.remove('fne-here');
    here = Math.min(cells.length - 1, Math.max(0, to));
    cells[here].classList.add('fne-here');
    box.setAttribute('aria-activedescendant', cells[here].id);
    cells[here].scrollIntoView({ block: 'nearest' });
  };
  box.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: CHUNK, ArrowUp: -CHUNK }[event.key];
    if (step) {
      const from = here;
      move(here + step);
      if (event.shiftKey) choice.range(from, here, true);
    } else if (event.key === ' ') choice.pick(here, { ctrlKey: true });
    else if (event.key === 'Escape') choice.clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return chosen => cells.forEach((cell, index) => {
    cell.setAttribute('aria-selected', chosen.has(index) ? 'true' : 'false');
  });
}

/** The residues to name below a plot: the first of each chain, and those with round numbers. */
function listTicks(residues) {
  const count = residues.length, near = count * NEAREST, ticks = [];
  const starts = residues.flatMap(([chain], index) => (index === 0 || residues[index - 1][0] !== chain ? [index] : []));
  const add = (index, text) => {
    if (ticks.every(tick => Math.abs(tick.index - index) >= near)) ticks.push({ index, text });
  };
  for (const index of starts) {
    const [chain, number] = residues[index];
    add(index, starts.length > 1 && chain.length < 4 ? `${chain} ${number}` : number); // a longer name would cover its neighbour
  }
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(size => size >= near) || 5000;
  residues.forEach(([, number], index) => {
    if (/^-?\d+$/.test(number) && Number(number) % step === 0) add(index, number);
  });
  return { ticks, starts };
}

function addConfidence(parent, residues, choice) {
  if (!residues.some(row => typeof row[3] === 'number')) return () => undefined;
  const width = 560, height = 110, count = residues.length;
  const box = make('figure', 'fne-plot', parent);
  const svg = draw('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'pLDDT of each residue' }, box);
  const bands = [['#0053d6', 90, 100], ['#65cbf3', 70, 90], ['#ffdb13', 50, 70], ['#ff7d45', 0, 50]];
  const top = value => 4 + (1 - value / 100) * (height - 8);
  for (const [color, low, high] of bands) draw('rect', { x: 0, width, y: top(high), height: top(low) - top(high), fill: color, opacity: 0.18 }, svg);
  const marks = draw('g', {}, svg);
  const left = index => (index / count) * width;
  const { ticks, starts } = listTicks(residues), isKnown = index => index >= 0 && typeof residues[index][3] === 'number';
  const path = residues.map(([chain, , , plddt], index) => {
    if (!isKnown(index)) return '';
    const isJoined = isKnown(index - 1) && residues[index - 1][0] === chain;
    return `${isJoined ? 'L' : 'M'}${left(index + 0.5).toFixed(1)} ${top(plddt).toFixed(1)}${isJoined ? '' : 'h0'}`;
  });
  draw('path', { d: path.join(''), fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5, 'stroke-linecap': 'round' }, svg);
  for (const index of starts.slice(1)) draw('path', { d: `M${left(index)} 0V${height}`, stroke: '#888', 'stroke-width': 1 }, svg);
  const axis = make('div', 'fne-axis', box);
  axis.setAttribute('aria-hidden', 'true');
  for (const { index, text } of ticks) {
    const label = make('span', '', axis, text), place = (index + 0.5) / count;
    label.style.left = `${100 * place}%`;
    label.style.transform = `translateX(${place < NEAREST / 2 ? 0 : place > 1 - NEAREST / 2 ? -100 : -50}%)`;
  }
  make('figcaption', '', box, 'pLDDT along the chains, 0 to 100, by residue number; drag to choose');
  const named = draw('title', {}, svg);
  const find = event => {
    const bounds = svg.getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, Math.floor(((event.clientX - bounds.left) / bounds.width) * count)));
  };
  svg.addEventListener('pointermove', event => { named.textContent = describe(residues[find(event)]); });
  onDrag(svg, find, (first, last, event) => (first === last ? choice.pick(first, event) : choice.range(first, last, event.ctrlKey || event.metaKey)));
  return chosen => {
    marks.replaceChildren();
    for (const index of chosen) draw('rect', { x: left(index), width: Math.max(1.5, width / count), y: 0, height, fill: MARK, opacity: 0.45 }, marks);
  };
}

function addErrors(parent, pae, choice) {
  if (!pae.picture) return () => undefined;
  const size = pae.owners.length;
  const box = make('figure', 'fne-plot fne-pae', parent);
  const svg = draw('svg', { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': 'Predicted aligned error' }, box);
  draw('image', { href: pae.picture, width: size, height: size, preserveAspectRatio: 'none' }, svg);
  for (const border of pae.borders) draw('path', { d: `M${border} 0V${size}M0 ${border}H${size}`, stroke: '#888', 'stroke-width': size / 300, fill: 'none' }, svg);
  const marks = draw('g', {}, svg);
  make('figcaption', '', box, 'Predicted aligned error, dark 0 Å, white 30 Å; drag a rectangle to choose its rows and columns');
  const find = event => {
    const bounds = svg.getBoundingClientRect();
    const at = (value, start, length) => Math.min(size - 1, Math.max(0, Math.floor(((value - start) / length) * size)));
    return [at(event.clientX, bounds.left, bounds.width), at(event.clientY, bounds.top, bounds.height)];
  };
  onDrag(svg, find, (first, last, event) => {
    const chosen = new Set();
    for (const axis of [0, 1]) {
      for (let token = Math.min(first[axis], last[axis]); token <= Math.max(first[axis], last[axis]); token += 1) chosen.add(pae.owners[token]);
    }
    chosen.delete(-1);
    choice.add(chosen, event.ctrlKey || event.metaKey);
  });
  return chosen => {
    marks.replaceChildren();
    pae.owners.forEach((owner, token) => {
      if (!chosen.has(owner)) return;
      draw('rect', { x: token, y: 0, width: 1, height: size, fill: MARK, opacity: 0.25 }, marks);
      draw('rect', { x: 0, y: token, width: size, height: 1, fill: MARK, opacity: 0.25 }, marks);
    });
  };
}

function addTable(parent, residues, choice) {
  const box = make('div', 'fne-table', parent), table = make('table', '', box);
  box.tabIndex = 0;
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', 'Selected residues');
  const head = make('tr', '', make('thead', '', table)), body = make('tbody', '', table);
  const hasConfidence = residues.some(residue => typeof residue[3] === 'number');
  const words = ['Chain', 'Number', 'Residue', ...(hasConfidence ? ['pLDDT'] : [])];
  for (const word of words) make('th', '', head, word).scope = 'col';
  make('td', '', head);
  return chosen => {
    body.replaceChildren();
    for (const index of [...chosen].sort((a, b) => a - b).slice(0, 500)) {
      const [chain, number, letter, plddt] = residues[index], line = make('tr', '', body);
      for (const text of [chain, number, letter]) make('td', '', line, text);
      if (hasConfidence) make('td', '', line, typeof plddt === 'number' ? plddt : '');
      const drop = make('button', '', make('td', '', line), 'Remove');
      drop.type = 'button';
      drop.setAttribute('aria-label', `Remove ${letter} ${number} of chain ${chain}`);
      drop.onclick = () => choice.pick(index, { ctrlKey: true });
    }
  };
}

/** Runs the drawing program on the scene, with the commands that Python recorded. */
async function addScene(parent, model, residues, choice) {
  const view = model.get('_view_data');
  parent.innerHTML = view.html;
  const root = parent.querySelector('.fnv-view'), id = view.data.id;
  root.fnSelection = [];
  const put = (tag, text) => {
    const node = document.createElement(tag);
    node.textContent = text;
    document.head.appendChild(node);
  };
  const bytes = Uint8Array.from(atob(view.data.packed), letter => letter.charCodeAt(0));
  const scene = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
  if (!window[scene.name]) {
    put('style', scene.style);
    put('script', `window.${scene.name}=${scene.code}`);
  }
  put('script', `window.foldnoteDress_${id}=function(viewer_${id}){${view.commands}}`);
  model.on('msg:custom', message => {
    if (message.kind !== 'picture' || !root.isConnected) return;
    const answer = (more, buffers) => model.send({ kind: 'picture', key: message.key, ...more }, undefined, buffers);
    const detail = { wish: message.wish, done: png => answer({}, [png.buffer]), failed: fault => answer({ fault: String(fault.message || fault) }) };
    answer({});
    root.dispatchEvent(new CustomEvent('fn-picture', { detail }));
  });
  root.addEventListener('fn-pick', event => {
    const index = choice.find(event.detail.chain, event.detail.number);
    if (index !== undefined) choice.pick(index, event.detail.event);
  });
  window[scene.name](view.data, window[`foldnoteDress_${id}`], scene, root);
  // Python and the other pictures are updated first: redrawing the structure takes longest.
  let later = 0;
  return chosen => {
    clearTimeout(later);
    later = setTimeout(() => mark(chosen));
  };

  function mark(chosen) {
    if (!chosen.size && !root.fnSelection.length) return;
    const sticks = { stick: { radius: 0.28, color: MARK }, sphere: { radius: 0.7, color: MARK, opacity: 0.9 } };
    const cores = ['CA', "C4'"];
    root.fnSelection = [...chosen].flatMap(index => [
      [residues[index][4], { stick: sticks.stick }],
      [{ ...residues[index][4], atom: cores }, sticks]
    ]);
    root.dispatchEvent(new Event('fn-repaint'));
  }
}

async function render({ model, el }) {
  const residues = model.get('_residues'), choice = makeChoice(model, residues);
  el.classList.add('fne-explorer');
  const stage = make('div', 'fne-stage', el), side = make('div', 'fne-side', el);
  const shows = [];
  const bar = make('div', 'fne-bar', side), said = make('output', '', bar), clear = make('button', '', bar, 'Clear');
  clear.type = 'button';
  clear.onclick = choice.clear;
  shows.push(addSequence(side, residues, choice), addConfidence(side, residues, choice), addErrors(side, model.get('_pae'), choice), addTable(side, residues, choice));
  const follow = () => {
    const chosen = choice.read();
    said.textContent = chosen.size === 1 ? '1 residue selected' : `${chosen.size} residues selected`;
    clear.disabled = chosen.size === 0;
    for (const show of shows) show(chosen);
  };
  model.on('change:selection', follow);
  el.addEventListener('keydown', event => {
    if (event.target.closest('button') && (event.key === 'Enter' || event.key === ' ')) event.stopPropagation();
  });
  follow();
  shows.push(await addScene(stage, model, residues, choice));
  follow();
  return () => model.off('change:selection', follow);
}
