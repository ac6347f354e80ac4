"""Pages of the web as they are: scripts without blanks, and parts that nobody sees."""

# ruff: noqa: RUF001 - punctuation of other scripts

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from genaipa.errors import DataError
from genaipa.policies.formats import extract

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "sentence",
    [
        "我们在您注册账户时收集您的姓名和地址，并在两年后删除这些信息。",
        "当社は、お客様の氏名と住所を二年間保管し、その後すべて削除します。",
        "เราเก็บชื่อและที่อยู่ของคุณไว้สองปีแล้วจึงลบออก",
        "យើងរក្សាទុកឈ្មោះរបស់អ្នករយៈពេលពីរឆ្នាំ។",
    ],
)
def test_a_page_in_a_script_without_blanks(tmp_path: Path, sentence: str) -> None:
    """It is taken where it says as much as an English one would have to; a line that asks for scripts is not."""
    path = tmp_path / "page.html"
    page = "<!doctype html><html><body><main>{}</main></body></html>"
    path.write_text(page.format(f"<h1>{sentence[:5]}</h1>" + f"<p>{sentence * 3}</p>" * 3))
    assert sentence in extract(str(path)).text
    path.write_text(page.format(f"<p>{sentence}</p>"))
    with pytest.raises(DataError, match="no main text"):
        extract(str(path))
