"""The place of workers by which `genaipa run --on ray` finds this package."""

from __future__ import annotations

from genaipa.workers.base import Place

RAY = Place(
    about="by workers on the Ray cluster",
    workers="genaipa_ray.actors:joined",
    check_installed="genaipa_ray.actors:check_installed",
    check="genaipa_ray.actors:check",
    own_accelerators=True,
)
