"""The data published with the GenAIPABench paper: pulled from its repository and turned into genaipa's own files.

`pull.py` fetches and checks the published files (`files.py`) and turns them into documents (`documents.py`),
annotated answers (`annotations.py`) and question sets (`questions.py`).
"""
