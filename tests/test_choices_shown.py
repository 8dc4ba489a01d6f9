"""Flags, the template for Dataflow and the documentation show the rows of the tables of choices."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from beam_bleu.pipeline.command_line.options import our_flags
from beam_bleu.pipeline.display.output_formats import FORMATS
from beam_bleu.pipeline.display.table import presets_table
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.config import COMPARISONS, PRESETS, BleuConfig
from beam_bleu.transforms.metrics.bleu.scoring import SMOOTH_METHODS, corpus_smooth_methods
from beam_bleu.transforms.text.languages import LANGUAGES, OTHER_LANGUAGES
from beam_bleu.transforms.text.text import CASES, NORMALIZATIONS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

PROJECT = pathlib.Path(__file__).parent.parent


def choices_of_flags() -> dict[str, Any]:
    return {flag.dest: flag.choices for flag in our_flags()}


def test_the_flags_have_the_rows_for_choices() -> None:
    choices = choices_of_flags()
    assert choices["tokenize"] == tuple(TOKENIZERS)
    assert choices["normalize"] == tuple(NORMALIZATIONS)
    assert choices["reference_length"] == tuple(REFERENCE_LENGTHS)
    assert choices["smooth_method"] == corpus_smooth_methods()
    assert choices["segment_smooth_method"] == tuple(SMOOTH_METHODS)
    assert choices["preset"] == tuple(PRESETS)
    assert choices["compare_presets"] == tuple(COMPARISONS)
    assert choices["format"] == tuple(FORMATS)
    assert {case.flag for case in CASES.values()} <= choices.keys()


def test_the_template_of_dataflow_has_the_rows_for_choices() -> None:
    metadata = json.loads((PROJECT / "deploy" / "dataflow" / "metadata.json").read_text())
    choices = {
        parameter["name"]: tuple(option["value"] for option in parameter["enumOptions"])
        for parameter in metadata["parameters"]
        if "enumOptions" in parameter
    }
    given = choices_of_flags()
    assert {"tokenize", "normalize", "reference_length", "smooth_method"} < choices.keys()
    assert choices == {name: given[name] for name in choices}


def test_the_page_of_output_has_a_line_for_each_format() -> None:
    page = (PROJECT / "docs" / "terminal.md").read_text()
    lines = page.partition("\n| format | stdout |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[:2] for row in rows] == [
        [f"`{row.name}`", row.description] for row in FORMATS.values()
    ]
    takes_decimals = [row.takes_decimals for row in FORMATS.values()]
    assert ["`--width`" in row[2] for row in rows] == takes_decimals


DEFINITIONS = (PROJECT / "docs" / "definitions.md").read_text()


def cells(header: str) -> list[list[str]]:
    """The rows of the table with this header; backticks are left out."""
    assert f"\n{header}\n" in DEFINITIONS
    lines = DEFINITIONS.partition(f"\n{header}\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [
        [cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")] for line in lines
    ]


def test_the_page_has_a_line_for_each_tokenizer() -> None:
    lines = cells("| tokenizer | tokens | equals |")
    assert [line[0] for line in lines] == list(TOKENIZERS)
    for row, (_, tokens, equals) in zip(TOKENIZERS.values(), lines, strict=True):
        assert tokens.startswith(row.description)
        assert equals == row.equals
        assert row.extra is None or f"./run.sh install {row.extra}" in tokens


def test_the_page_has_a_line_for_each_language_with_a_tokenizer() -> None:
    *lines, others = cells("| language | codes | tokenizer |")
    assert lines == [
        [row.description, " ".join(row.codes), row.tokenize] for row in LANGUAGES.values()
    ]
    assert others[0] == "every other language"
    assert others[-1].strip("| ") == OTHER_LANGUAGES


def test_the_page_has_a_line_for_each_reference_length() -> None:
    lines = cells("| rule | length | as in |")
    assert [line[0] for line in lines] == list(REFERENCE_LENGTHS)
    for row, line in zip(REFERENCE_LENGTHS.values(), lines, strict=True):
        assert line[1].startswith(row.description)
        assert ("sacreBLEU" in line[2]) == row.in_sacrebleu


def test_the_page_has_a_line_for_each_smoothing_method() -> None:
    lines = cells("| method | precision | source |")
    assert [line[0].removesuffix(" (default)") for line in lines] == list(SMOOTH_METHODS)
    for row, (name, precision, source) in zip(SMOOTH_METHODS.values(), lines, strict=True):
        assert precision.startswith(row.description)
        assert (f"v = {row.value:g}" in precision) if row.value else ("v = " not in precision)
        assert ("sacreBLEU" in source) == (row.sacrebleu is not None)
        assert name.endswith(" (default)") == (row.name == BleuConfig.smooth_method)


def test_the_page_has_a_line_for_each_preset() -> None:
    lines = cells("| preset | equals | verified by |")
    assert [line[0] for line in lines] == list(PRESETS)
    for row, line in zip(PRESETS.values(), lines, strict=True):
        assert line[1].startswith(row.source)


def test_the_page_names_the_normalizations_and_the_cases() -> None:
    page = " ".join(DEFINITIONS.split())  # whatever the lines
    assert f"`--normalize {'|'.join(NORMALIZATIONS)}`" in page
    for row in NORMALIZATIONS.values():
        assert f"`{row.name}`, {row.description}" in page
    for case in CASES.values():
        assert f"`--{case.flag}`" in page


def test_the_table_of_presets_has_a_line_for_each_one() -> None:
    lines = presets_table().splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(PRESETS)
    for row, line in zip(PRESETS.values(), lines, strict=True):
        assert line.endswith(f" {row.source}")
