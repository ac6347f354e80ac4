"""What a server says about the model that is to be asked, looked up before a run.

For servers that list their models as OpenAI does; Anthropic's lists and errors have the same form, down to the names in
the two SDKs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from genaipa.systems.base import Readiness
from genaipa.systems.endpoint import LISTS_NOTHING, LOOK_UP_SECONDS, as_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa.systems.endpoint import Endpoint


@dataclass(frozen=True)
class Listing:
    """How one kind of server tells of its models: at which path, and in which fields of an entry.

    `unknown` says of the error 404 for a single model whether it is about the model; a server without that route
    answers 404 too. Where a list is `complete`, a model that isn't in it is sure not to exist.
    """

    path: str
    context: tuple[str, ...]
    shutdown: str
    unknown: Callable[[Any], bool]
    limit: int | None = None
    complete: bool = False


async def look_up(client: Any, sdk: Any, endpoint: Endpoint, model: str, form: Listing) -> Readiness:
    """What the server tells of the model; NotReadyError if it can't be reached, refuses the key or has no such model.

    `client` is a client of the module `sdk`, which is OpenAI's or Anthropic's.
    """
    options = {"timeout": LOOK_UP_SECONDS, "params": {"limit": form.limit} if form.limit else {}}
    try:
        listing = await client.get(form.path, cast_to=object, options=options)
    except sdk.APIConnectionError as error:
        raise endpoint.unreachable(error.__cause__ or error) from None
    except sdk.APIStatusError as error:
        if error.status_code == 401:  # noqa: PLR2004 - Unauthorized
            raise endpoint.unauthorised(401, error.body) from None
        return Readiness(notes=() if error.status_code in LISTS_NOTHING else (endpoint.unlisted(error.status_code),))
    except (sdk.APIError, ValueError):
        listing = None
    models = _models_in(listing)
    if models is None:
        return Readiness(notes=(endpoint.unlisted("the list can't be read"),))
    # A list without any model says nothing.
    entry: dict[str, Any] | None = models.get(model) if models else {}
    if entry is None:
        entry = await _retrieve(client, sdk, endpoint, model, form, models)
    if entry is None:
        return Readiness(models=tuple(sorted(models)), notes=(endpoint.unlisted_model(model, models),))
    return Readiness(
        context=next((size for name in form.context if (size := as_count(entry.get(name)))), None),
        models=tuple(sorted(models)) or None,
        # The day alone, also of "2026-10-23T00:00:00Z".
        shutdown=str(entry.get(form.shutdown) or "")[:10] or None,
    )


async def _retrieve(
    client: Any, sdk: Any, endpoint: Endpoint, model: str, form: Listing, models: Iterable[str]
) -> dict[str, Any] | None:
    """The own entry of a model that isn't listed; NotReadyError only if it is sure that there is no such model."""
    if form.complete:
        raise endpoint.unknown_model(model, models)
    path = f"{form.path}/{quote(model, safe='')}"
    try:
        entry = await client.get(path, cast_to=object, options={"timeout": LOOK_UP_SECONDS})
    except sdk.NotFoundError as error:
        if form.unknown(error):
            raise endpoint.unknown_model(model, models) from None
        return None
    except (sdk.APIError, ValueError):
        return None
    return entry if isinstance(entry, dict) else None


def _models_in(listing: object) -> dict[str, dict[str, Any]] | None:
    """Id → entry of a list of models; None for anything else.

    A wrong address often answers with a web page, over which the SDKs' own lists stumble.
    """
    entries = listing.get("data") if isinstance(listing, dict) else None
    if not isinstance(entries, list):
        return None
    return {str(entry["id"]): entry for entry in entries if isinstance(entry, dict) and entry.get("id")}
