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

/**
 * Lets the entry that JupyterLab loads first ask for the files of the plugins and of the styles at once.
 *
 * JupyterLab asks for them only when its own code is there, and waits for them before it starts; until then they are loaded
 * beside it.
 */
class PreloadStart {
  apply(compiler) {
    const { Compilation, sources } = compiler.rspack;
    compiler.hooks.compilation.tap('PreloadStart', compilation => {
      const stage = Compilation.PROCESS_ASSETS_STAGE_ADDITIONS; // before names get the hashes of what files hold
      compilation.hooks.processAssets.tap({ name: 'PreloadStart', stage }, assets => {
        const entry = Object.keys(assets).find(name => name.startsWith('remoteEntry.'));
        const files = [...compilation.chunks].filter(isOfStart).flatMap(chunk => [...chunk.files]);
        if (!entry || files.length === 0) {
          throw new Error('The files that JupyterLab loads at its start were not found.');
        }
        const preload = `;for (const name of document.currentScript ? ${JSON.stringify(files)} : []) {
          const href = new URL(name, document.currentScript.src).href;
          document.head.append(Object.assign(document.createElement('link'), { rel: 'preload', as: 'script', href }));
        }`;
        compilation.updateAsset(entry, source => new sources.ConcatSource(source, preload));
      });
    });
  }
}

/** Whether it holds what the entry exposes: such chunks are asked for by no import in a module of ours. */
function isOfStart(chunk) {
  return [...chunk.groupsIterable].some(
    group => !group.isInitial() && group.origins.some(({ request }) => request === undefined)
  );
}

module.exports = { performance, module: { rules: [styles] }, plugins: [new PreloadStart()] };
