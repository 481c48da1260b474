/** The browser build of 3Dmol.js; only handed on, never called from here. */
declare module '3dmol/build/3Dmol-min.js';
