// The explorer on its own page: the page stores the state that a kernel stores for a notebook. This file follows
// explorer.js in one module.
{
  const state = JSON.parse(document.getElementById('fne-state').textContent), listeners = new Map();
  const model = {
    get: name => state[name],
    set(name, value) {
      state[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) listener();
    },
    save_changes() {},
    on: (event, listener) => { listeners.set(event, [...(listeners.get(event) ?? []), listener]); },
    off: (event, listener) => { listeners.set(event, (listeners.get(event) ?? []).filter(each => each !== listener)); }
  };
  const page = document.getElementById('fne-page');
  render({ model, el: page });
  const head = page.querySelector('.fnv-head');
  if (head && head.textContent === document.title) head.hidden = true;  // the heading of the page is the same
}
