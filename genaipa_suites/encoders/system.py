"""Encoders fine-tuned on a suite's train split (`encoder/bert-base-uncased`): each reply is worked out by the suite.

As with a baseline, the prediction is in the message that asks for it, and is repeated here: training takes hours and
knows a whole split, which no message says. `genaipa_suites/encoders/` trains.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, ClassVar

from genaipa.errors import MissingPackageError
from genaipa.systems.base import Readiness
from genaipa.systems.provider import Provider
from genaipa_suites.baseline import CarriedReplySystem

if TYPE_CHECKING:
    from collections.abc import Collection

    from genaipa.systems.base import Words

PACKAGES = ("torch", "transformers", "accelerate")


class EncoderSystem(CarriedReplySystem):
    """`encoder/MODEL`: a model of the Hugging Face hub, or a folder that holds one."""

    provider: ClassVar[Provider] = Provider(
        name="encoder",
        form="encoder/MODEL",
        about="encoders of the Hugging Face hub or a folder, fine-tuned here on a suite's train split (run --suite)",
        sdk="transformers",
        extra="encoders",
        packages=PACKAGES,
        only="only the items of a suite; ask it with: genaipa run --suite NAME -s encoder/MODEL",
        free=True,
        words="document",
    )
    words: Words = provider.words

    def __init__(self, *, name: str, model: str, accepts: Collection[str] = ()) -> None:  # noqa: ARG002 - it has no sampling
        super().__init__(name=name)
        self.model = model

    async def start(self) -> Readiness:
        """Look for the packages without importing them; a MissingPackageError names the extra."""
        for package in PACKAGES:
            if importlib.util.find_spec(package) is None:
                raise MissingPackageError(
                    f"{self.name} needs the package '{package}': pip install 'genaipa[{self.provider.extra}]'"
                )
        return Readiness()
