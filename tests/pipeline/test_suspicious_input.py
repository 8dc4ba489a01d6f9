"""Suspicious input: a warning that changes no number, or the end of a run unless it is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Argument, Run, called, streams, write_lines, write_records
from natural_texts import CANDIDATES, REFERENCES

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


def test_each_warning_comes_once_and_names_its_system(tmp_path):
    texts = {name: lines for name, (lines, _) in SUSPICIOUS.items()} | {"fine": FINE}
    systems = [write_lines(tmp_path / f"{name}.txt", lines) for name, lines in texts.items()]
    reference = write_lines(tmp_path / "reference.txt", REFERENCE)
    arguments = streams(systems, [reference], "--format=json", "--compare_presets")
    run = called(*arguments, "--range_bytes=5000", "--output", tmp_path / "out")
    warnings = run.document["warnings"]  # which asserts that the exit code is 0
    assert run.err == "".join(f"beam-bleu: warning: {each}\n" for each in warnings)
    # If most candidates are empty, the total length is short, too.
    copies = [each for each in warnings if "the same score on every segment" in each]
    assert [each.split()[:3] for each in copies] == [
        [name, "and", "tokenized"] for name in ("windows", "fine")
    ]
    names = [each.split(":")[0] for each in warnings if each not in copies]
    assert names == [*SUSPICIOUS, "empty"]
    for name, (_, words) in SUSPICIOUS.items():
        (told,) = (each for each in warnings if words in each)
        assert told.startswith(f"{name}: ")
    assert [each["warnings"] for each in run.document["presets"]] == [[], []]
    assert (tmp_path / "out" / "scores.json").read_bytes() == run.out
    assert called(*arguments, "--range_bytes=1000", "--threads=2").out == run.out


# Conditions that every record meets, or none


def records(path: Path, *languages: str) -> Path:
    rows = [
        {"hyp": f"a b c d {i}", "ref": f"a b c d {i + i % 2}", "same": "x", "lang": language}
        for i, language in enumerate([*languages] * 6)
    ]
    return write_records(path, rows)


def told(run: Run) -> list[str]:
    """The conditions of warnings. stderr has each of them once."""
    found = [each for each in run.document["warnings"] if " meets --where " in each]
    for each in found:
        assert run.err.count(f"beam-bleu: warning: {each}\n") == 1
        start, _, end = each.partition(", so it leaves nothing out; ")
        assert start.startswith("every record meets --where ")
        assert end.startswith("values are compared as JSON writes them")
    return [each.partition("--where ")[2].partition(",")[0] for each in found]


def test_each_condition_is_judged_on_its_own(tmp_path):
    path = records(tmp_path / "all.jsonl", "de", "en", "fr")
    where = ["--where=lang!=de", "--where=lang!=German", "--where=same=x"]
    run = called("--input", path, *where, "--format=json")
    assert run.document["segments"] == 12
    assert told(run) == ["lang!=German", "same=x"]


def test_conditions_of_merged_parts_are_judged_together(tmp_path):
    """A day without a record to leave out is no reason for a warning about the month."""
    outputs = {}
    for day, languages in {"1": ["en"], "2": ["de", "en"], "3": ["fr"]}.items():
        path = records(tmp_path / f"{day}.jsonl", *languages)
        outputs[day] = tmp_path / f"out{day}"
        run = called(
            *("--input", path, "--where=lang!=de", "--save_totals", f"--partition={day}"),
            *(f"--output={outputs[day]}", "--format=json"),
        )
        assert len(told(run)) == (day != "2")
    assert told(called("merge", outputs["1"], outputs["2"], "--format=json")) == []
    assert told(called("merge", outputs["1"], outputs["3"], "--format=json")) == ["lang!=de"]


# Texts that are not what they are taken for


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for name, lines in (
        ("references", REFERENCES),
        ("good", CANDIDATES),
        ("wrapped", [f'<seg id="{i}">{text}</seg>' for i, text in enumerate(REFERENCES, 1)]),
        ("shifted", [*CANDIDATES[:200], *CANDIDATES[201:], "x"]),
    ):
        write_lines(tmp_path / f"{name}.txt", lines)
    rows = zip(CANDIDATES, [f"{text} </s>" for text in CANDIDATES], REFERENCES, strict=True)
    write_records(
        tmp_path / "rows.jsonl", [{"good": good, "b": b, "ref": ref} for good, b, ref in rows]
    )
    return tmp_path


def test_another_format_and_shifted_lines_end_a_run_without_a_result(texts):
    def lines(system: str) -> list[Argument]:
        return [texts / "references.txt", "-i", texts / "good.txt", f"b={texts}/{system}.txt"]

    columns = ["--candidate_columns", "good,b", "--reference_columns", "ref"]
    rows: list[Argument] = ["--input", texts / "rows.jsonl", *columns]
    for arguments, *fragments in (
        (lines("wrapped"), "of b look like SGML", "400 of 400", "another-format"),
        (rows, "the candidates of b have special tokens", "--allow marks"),
        (lines("shifted"), "from segment 201 on, the candidates of b", "--allow order"),
    ):
        called(*arguments, "--output", texts / "out").assert_failed(3, *fragments)
        assert not (texts / "out" / "scores.json").exists()
    (warning,) = called(*rows, "--allow", "marks", "--format", "json").document["warnings"]
    assert "the candidates of b have special tokens" in warning
    assert "warning" not in called(*lines("good")[:-1], "--format", "json").err
