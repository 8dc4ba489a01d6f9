"""Tables of Delta Lake and Iceberg without their libraries: the names, and what is missing."""

from __future__ import annotations

import sys

import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.files.tables import table_kind
from beam_bleu.transforms.pairing.records.formats import format_of_name


@pytest.mark.parametrize(
    ("pattern", "label"),
    [
        ("delta:/data/table", "Delta"),
        ("iceberg:lake.news.rows", "Iceberg"),
        ("/data/delta/table", None),
        ("deltas:x", None),
    ],
)
def test_a_word_before_a_colon_names_a_table(pattern: str, label: str | None) -> None:
    kind = table_kind(pattern)
    assert (kind and kind.label) == label
    if label is not None:
        assert format_of_name(pattern) == "parquet"


@pytest.mark.parametrize(("name", "library"), [("delta", "deltalake"), ("iceberg", "pyiceberg")])
def test_a_missing_library_is_named_with_its_extra(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match="is not installed here: x/y") as failed:
        find_files(Stream("input", f"{name}:x/y"))
    assert f"install {name}" in failed.value.remedy
