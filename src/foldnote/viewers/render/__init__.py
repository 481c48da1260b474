"""Render scenes: HTML with 3Dmol.js, still images and captions."""
