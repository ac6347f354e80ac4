"""Tests by room, and in `support/` what they share.

As a package it keeps its folder off the module path, where `tests/datasets` would pass for the library of that name.
"""
