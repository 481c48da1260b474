// 3Dmol.js is larger than the bundler's usual limit, and loaded only when a structure is drawn.
const performance = { hints: false };
// The style sheets are loaded at JupyterLab's start, without their comments and indents.
const styles = {
  test: /\.css$/,
  include: /labextension[\\/]style/,
  enforce: 'pre',
  loader: 'builtin:lightningcss-loader',
  options: { minify: true }
};
module.exports = { performance, module: { rules: [styles] } };
