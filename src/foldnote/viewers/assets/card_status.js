// Tells screen readers the state of a card. They announce a change of text in a region that stays, and may miss one that is replaced.
function render({ model, el }) {
  el.style.cssText = 'position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)';
  el.setAttribute('role', 'status');
  const say = () => {
    el.textContent = model.get('_words');
  };
  say();
  model.on('change:_words', say);
  return () => model.off('change:_words', say);
}
