/** The browser build of 3Dmol.js; it is passed on, never called here. */
declare module '3dmol/build/3Dmol-min.js';
