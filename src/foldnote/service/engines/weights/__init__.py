"""Weights that an engine gets from its authors: declared, downloaded, verified, and shared between engines.

``declared`` reads the declarations in ``engine.toml``, ``download`` downloads a file over HTTP, ``archives``
unpacks one, ``store`` stores the content of each file once, and ``state`` says which weights an engine has.
None of these modules knows about jobs.
"""
