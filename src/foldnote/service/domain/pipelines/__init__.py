"""Pipelines: stages that run one after another, later ones with the outputs of earlier ones."""
