// Code for the next cell: JupyterLab inserts it once, on the event `fn-insert-cell`; elsewhere it can be copied.
function render({ model, el }) {
  const root = document.createElement('div');
  const words = document.createElement('p');
  const code = document.createElement('pre');
  const bar = document.createElement('div');
  root.className = 'fnc-next';
  bar.className = 'fnc-next-bar';
  words.textContent = model.get('_sentence');
  code.textContent = model.get('_code');
  code.tabIndex = 0;
  code.setAttribute('aria-label', 'Python code');
  const insert = button('Insert as a cell below', ask);
  const copy = button('Copy the code', async () => {
    await navigator.clipboard.writeText(model.get('_code'));
    copy.textContent = 'Copied';
  });
  bar.append(insert, copy);
  root.append(words, code, bar);
  el.append(root);

  function button(text, act) {
    const made = document.createElement('button');
    made.type = 'button';
    made.className = 'jupyter-widgets jupyter-button widget-button';
    made.textContent = text;
    made.addEventListener('click', act);
    return made;
  }

  function ask() {
    const detail = { code: model.get('_code') };
    const isFree = root.dispatchEvent(new CustomEvent('fn-insert-cell', { bubbles: true, cancelable: true, detail }));
    insert.hidden = isFree;
    code.hidden = !isFree;
    if (!isFree) insert.textContent = 'Insert it again';
  }

  const paint = () => {
    if (model.get('_is_inserted')) code.hidden = true;
  };
  let waits = setTimeout(() => {
    if (model.get('_is_inserted') || !root.isConnected) return paint();
    ask();
    if (!code.hidden) return;
    model.set('_is_inserted', true);
    model.save_changes();
  });
  return () => clearTimeout(waits);
}
