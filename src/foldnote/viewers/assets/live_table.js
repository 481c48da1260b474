// The table of a batch in a cell, whose values the kernel renews while its jobs run; `program` is that of tables.
function render({ model, el }) {
  const root = document.createElement('div');
  root.className = 'fnv-table';
  root.appendChild(document.createElement('style')); // the styles come with the widget
  el.appendChild(root);
  const read = () => ({ ...model.get('_data'), pictures: model.get('_pictures') });
  program(root, read());
  const follow = () => root.fnReplace(read());
  const names = 'change:_data change:_pictures';
  model.on(names, follow);
  return () => model.off(names, follow);
}
