// The table of a batch in a cell, whose values the kernel renews while its jobs run; `program` is that of tables.
function render({ model, el }) {
  const root = document.createElement('div');
  root.className = 'fnv-table';
  root.appendChild(document.createElement('style')); // the styles come with the widget
  el.appendChild(root);
  program(root, model.get('_data'));
  const follow = () => root.fnReplace(model.get('_data'));
  model.on('change:_data', follow);
  return () => model.off('change:_data', follow);
}

export default { render };
