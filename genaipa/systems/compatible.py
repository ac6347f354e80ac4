"""Models behind any server that speaks OpenAI's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from genaipa.systems.openai import OpenAISystem
from genaipa.systems.provider import Provider

if TYPE_CHECKING:
    from genaipa.systems.base import Settings


class CompatibleSystem(OpenAISystem):
    """`openai-api/NAME/MODEL`: NAME is ours for the server, and part of its variables.

    Such servers may refuse a field that they don't know, so only what was asked for is sent.
    """

    provider: ClassVar[Provider] = Provider(
        name="openai-api",
        form="openai-api/NAME/MODEL",
        about="any server that speaks OpenAI's protocol: NAME_BASE_URL, NAME_API_KEY",
        sdk="openai",
        extra="openai",
        keys=("{SERVER}_API_KEY",),
        key_needed="elsewhere",
        address="{SERVER}_BASE_URL",
        ends="/v1",
    )
    # The older name, understood by all of them.
    fields: ClassVar[dict[str, str]] = OpenAISystem.fields | {"max_tokens": "max_tokens"}
    sends_cache_key = False
    takes_batches = False

    def _headers(self, settings: Settings) -> dict[str, str]:
        """Name the document: routers in front of several servers send equal sessions to one, whose cache has it."""
        session = {} if settings.cache_key is None else {"X-Session-ID": settings.cache_key}
        return super()._headers(settings) | session
