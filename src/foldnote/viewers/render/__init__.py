"""Rendering a scene: HTML with 3Dmol.js, still images, captions."""
