"""Web chats: a person carries the messages (`execution/manual.py`), so that there is nothing to start or to ask."""

from __future__ import annotations

from typing import ClassVar

from genaipa.systems.provider import Provider


class WebChat:
    """`manual/NAME`."""

    provider: ClassVar[Provider] = Provider(
        name="manual", form="manual/NAME", about="a web chat that you drive by hand", free=True
    )
