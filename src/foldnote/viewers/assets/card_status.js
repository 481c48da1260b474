// Announces the state of a card to screen readers, and the end of its job to the page. Screen readers announce a
// changed text in a region that stays, and may miss a region that is replaced.
function render({ model, el }) {
  el.style.cssText = 'position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)';
  el.setAttribute('role', 'status');
  const say = () => {
    el.textContent = model.get('_words');
  };
  const end = () => document.dispatchEvent(new CustomEvent('fn-job-ended', { detail: { job: model.get('_ended') } }));
  say();
  model.on('change:_words', say);
  model.on('change:_ended', end);
  return () => {
    model.off('change:_words', say);
    model.off('change:_ended', end);
  };
}
