"""Suspicious input: the command warns once, changes no number, and exits with 0."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import EXAMPLE, called, streams, write_lines

WORDS = ["the", "cat", "sat", "on", "the", "mat", "and", "looked", "at", "the", "dog"]
REFERENCE = [f"{' '.join(WORDS[i % 7 :])} {i}." for i in range(300)]
FINE = [f"{' '.join(WORDS[i % 5 :])} {i}." for i in range(300)]

SUSPICIOUS = {
    "tokenized": ([line.replace(".", " .") for line in FINE], "look tokenized: 300 of 300 end"),
    "identical": (REFERENCE, "the same as references 1, byte for byte, in all 300 segments"),
    "windows": (
        [f"{line}\r" for line in FINE],
        "in the candidates (300 of 300 lines), but not in references 1 (0 of 300 lines)",
    ),
    "short": (["the cat sat on"] * 300, "tokens as the references (1,200 and "),
    "empty": ([""] * 200 + FINE[:100], "200 of 300 have no token"),
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {name: lines for name, (lines, _) in SUSPICIOUS.items()}
    return {
        name: write_lines(tmp_path / f"{name}.txt", lines)
        for name, lines in {**texts, "fine": FINE, "reference": REFERENCE}.items()
    }


def warned(err: str) -> list[str]:
    """The warnings on stderr. Checks that there is nothing else."""
    start = "beam-bleu: warning: "
    assert all(line.startswith(start) for line in err.splitlines())
    return [line.removeprefix(start) for line in err.splitlines()]


def test_each_warning_comes_once_and_names_its_system(files, tmp_path):
    systems = [*SUSPICIOUS, "fine"]
    run = called(
        *streams([files[name] for name in systems], [files["reference"]]),
        *("--range_bytes=5000", "--format=json", "--compare_presets", "--output", tmp_path / "out"),
    )
    warnings = run.document["warnings"]  # which asserts that the exit code is 0
    assert warned(run.err) == warnings
    # If most candidates are empty, the total length is short, too.
    assert [each.split(":")[0] for each in warnings] == [*SUSPICIOUS, "empty"]
    for name, (_, words) in SUSPICIOUS.items():
        (told,) = (each for each in warnings if words in each)
        assert told.startswith(f"{name}: ")
    assert [each["warnings"] for each in run.document["presets"]] == [[], []]
    assert (tmp_path / "out" / "scores.json").read_bytes() == run.out


def test_warnings_and_scores_do_not_depend_on_the_split(files):
    of_all = streams([files[name] for name in SUSPICIOUS], [files["reference"]], "--format=json")
    whole = called(*of_all)
    assert len(whole.document["warnings"]) >= len(SUSPICIOUS)
    assert called(*of_all, "--range_bytes=1000", "--threads=2").out == whole.out


def test_tokenized_text_gives_no_warning_if_the_tokenizer_is_for_it(files):
    arguments = streams([files["tokenized"]], [files["reference"]])
    assert called(*arguments, "--tokenize=none").err == ""
    assert called(*arguments, "--preset=multi_bleu").err == ""
    assert "look tokenized" in called(*arguments, "--tokenize=intl").err


def test_the_example_gives_no_warning():
    for flags in ([], ["--tokenize=none"], ["--reference_length=longest"], ["--lowercase"]):
        assert called(*EXAMPLE, *flags).err == ""
