"""Interfaces between the chains of a structure: contacts, hydrogen bonds, salt bridges, buried surface."""
