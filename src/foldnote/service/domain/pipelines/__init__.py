"""Pipelines: stages that run one after another, later ones on what earlier ones made."""
