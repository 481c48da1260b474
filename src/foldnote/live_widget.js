// Lets a widget receive messages of its kernel if it was loaded too late for anywidget. anywidget (0.9.18 to 0.11)
// gives the JavaScript of a widget two seconds to load. On a busy page that takes longer, the widget is drawn, but
// anywidget then drops everything that its kernel sends. A late widget therefore passes messages to the method that
// anywidget's model overrides, and requests the state that it missed.
async function hearKernel(model) {
  const whole = await model.widget_manager?.get_model?.(model.get('_own_id'));
  if (!whole?.comm) return; // the page has no kernel
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
    await hearKernel(context.model).catch(error => console.warn('This widget may not hear its kernel:', error)); // other widget managers
    return render(context);
  }
};
