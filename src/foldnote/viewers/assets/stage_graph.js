// The graph of a pipeline on its live card: HTML from the kernel; a focused stage keeps the focus when it is replaced.
function render({ model, el }) {
  const show = () => {
    const focused = el.contains(document.activeElement) ? document.activeElement.dataset.fnStage : null;
    el.innerHTML = model.get('_html');
    if (focused) el.querySelector(`[data-fn-stage="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  };
  show();
  model.on('change:_html', show);
  return () => model.off('change:_html', show);
}
