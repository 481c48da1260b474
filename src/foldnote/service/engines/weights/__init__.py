"""Weights that an engine takes from its authors: declared, fetched, verified, and shared between engines.

``declared`` reads what ``engine.toml`` says, ``download`` fetches a file over HTTP, ``archives`` unpacks one,
``store`` keeps the content of each file once, and ``state`` says what an engine has. Nothing here knows of
jobs.
"""
