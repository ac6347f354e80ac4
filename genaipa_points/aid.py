"""The list of points as an aid of the desk, which chance withholds from some scores."""

from __future__ import annotations

from genaipa.scoring.aids import Aid

POINTS_AID = Aid("points to tick", "points: false in the plan of desk.yaml")
