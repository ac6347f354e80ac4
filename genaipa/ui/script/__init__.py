"""The script that Streamlit runs, alone in its folder.

Streamlit puts that folder on the import path, where genaipa/ui/queue.py would stand in for Python's own `queue`, and
takes a folder `pages` beside the script for pages of its own making.
"""
