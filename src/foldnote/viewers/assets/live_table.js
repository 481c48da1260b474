// The table of a batch in a cell; the kernel updates its values while jobs run. `program` is the program of tables.
function render({ model, el }) {
  const root = document.createElement('div');
  root.className = 'fnv-table';
  root.appendChild(document.createElement('style')); // the widget includes the styles
  el.appendChild(root);
  const read = () => ({ ...model.get('_data'), pictures: model.get('_pictures') });
  program(root, read());
  const follow = () => root.fnReplace(read());
  const names = 'change:_data change:_pictures';
  model.on(names, follow);
  return () => model.off(names, follow);
}
