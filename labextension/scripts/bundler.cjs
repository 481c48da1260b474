// 3Dmol.js is larger than the bundler's usual limit, and loaded only when a structure is drawn.
module.exports = { performance: { hints: false } };
