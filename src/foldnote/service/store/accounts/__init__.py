"""Accounts in the database: keys, organizations, trials, merging two accounts."""
