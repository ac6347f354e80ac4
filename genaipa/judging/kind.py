"""The kind of task whose questions are the answers of other runs, and whose replies are verdicts."""

from __future__ import annotations

from genaipa.kinds import Kind

NAME = "judge"
JUDGE = Kind(make="genaipa.judging.task:JudgeTask", on_answers=True, keeps=True, prompts=NAME)
