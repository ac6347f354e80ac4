"""The script that Streamlit runs, alone in its folder.

Streamlit puts that folder on the import path, where a module of ours would hide one of Python's own of the same
name, and takes a folder `pages` beside the script for pages of its own making.
"""
