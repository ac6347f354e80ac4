"""The commands of this package, as help pages list them."""

from __future__ import annotations

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.headings import PackageCommand

EXPORT = PackageCommand(
    "genaipa_exchange.export:export",
    summary="Write answers and scores for another program.",
    heading="Data",
    after="get",
)
IMPORT = PackageCommand(
    "genaipa_exchange.import_:import_",
    summary="Import answers and scores from another program.",
    heading="Data",
    after="export",
)


def list_exchange_format_names() -> list[str]:
    """Return the names of the forms."""
    from genaipa_exchange.forms import FORMS

    return [form.name for form in FORMS]


complete_form = completion.make_name_completion_callback(list_exchange_format_names)
