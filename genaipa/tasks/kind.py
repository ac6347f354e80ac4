"""The core's own kinds of tasks: the paper's procedure, and any task without a kind of its own."""

from __future__ import annotations

from genaipa.kinds import Kind

PROCEDURE = Kind(
    make="genaipa.tasks.procedure:Procedure",
    people=True,
    documents=True,
    plan="genaipa.tasks.plan:ProcedurePlan",
    planned="genaipa.execution.procedure:planned",
)
"""Algorithm 1 of the paper."""
PLAIN = Kind(make="genaipa.tasks.catalog:make_plain", names="genaipa.tasks.catalog:plain_names")
"""A task of a package, by an entry point `genaipa.tasks`, or of the user's own, by `module:Class`."""
