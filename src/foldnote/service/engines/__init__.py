"""Engines: the programs that compute, each in its own folder and environment.

An engine consists of ``engine.toml`` (tools served, requirements, origin of the method) and ``run.py`` (a
program that reads ``job.json`` in its working folder and writes ``outputs/``). It is named after the method
that it runs, never after the tool that it substitutes. This package reads, installs and launches engines; it
does not queue jobs, and no engine touches HTTP or the database.
"""

from __future__ import annotations

from foldnote.service.engines.engine import Engine, EngineState
from foldnote.service.engines.engine_file import read_engine
from foldnote.service.engines.launch import build_attempt
from foldnote.service.engines.registry import engine_for, load_engines

__all__ = ["Engine", "EngineState", "build_attempt", "engine_for", "load_engines", "read_engine"]
