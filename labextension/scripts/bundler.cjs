// 3Dmol.js exceeds the bundler's size limit, and is loaded only when a structure is drawn.
const performance = { hints: false };
// Style sheets are bundled without comments and indentation.
const styles = {
  test: /\.css$/,
  include: /labextension[\\/]style/,
  enforce: 'pre',
  loader: 'builtin:lightningcss-loader',
  options: { minify: true }
};

/**
 * Preloads the chunk of the plugins from the entry that JupyterLab loads first.
 *
 * JupyterLab requests that chunk only once its own code is loaded, and waits for it before it starts. Preloading fetches both
 * at the same time.
 */
class PreloadStart {
  apply(compiler) {
    const { Compilation, sources } = compiler.rspack;
    compiler.hooks.compilation.tap('PreloadStart', compilation => {
      const stage = Compilation.PROCESS_ASSETS_STAGE_ADDITIONS; // before the stage that puts content hashes into names
      compilation.hooks.processAssets.tap({ name: 'PreloadStart', stage }, assets => {
        const entry = Object.keys(assets).find(name => name.startsWith('remoteEntry.'));
        const files = [...compilation.chunks].filter(isOfStart).flatMap(chunk => [...chunk.files]);
        if (!entry || files.length === 0) {
          throw new Error('The chunk of the plugins was not found.');
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

/** Returns whether a chunk contains modules that the entry exposes. No module of ours imports these chunks. */
function isOfStart(chunk) {
  return [...chunk.groupsIterable].some(
    group => !group.isInitial() && group.origins.some(({ request }) => request === undefined)
  );
}

module.exports = { performance, module: { rules: [styles] }, plugins: [new PreloadStart()] };
