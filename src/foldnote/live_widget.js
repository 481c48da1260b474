// Lets a widget hear its kernel that was loaded too late for anywidget.
//
// anywidget (0.9.18 to 0.11) gives the program of a widget two seconds to load. Where a busy page takes longer, the widget is
// drawn all the same, but from then on anywidget drops everything that its kernel sends. So a late widget hands messages to
// the method that anywidget's model overrides, and asks for the state that it has missed.
async function hearKernel(model) {
  const whole = await model.widget_manager?.get_model?.(model.get('_own_id'));
  if (!whole?.comm) return; // a page without the kernel
  const listens = await whole._handle_comm_msg({ content: { data: {} } }).then(() => true, () => false);
  if (listens) return;
  let owner = whole;
  while (!Object.hasOwn(owner, '_handle_comm_msg')) owner = Object.getPrototypeOf(owner);
  const handle = Object.getPrototypeOf(owner)._handle_comm_msg;
  whole.comm.on_msg(message => handle.call(whole, message));
  whole.comm.send({ method: 'request_state' }, {});
}

export default {
  async render(context) {
    await hearKernel(context.model).catch(error => console.warn('This widget may not hear its kernel:', error)); // other managers
    return render(context);
  }
};
