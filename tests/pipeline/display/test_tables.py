"""Tables fit the terminal: no number is cut, and no two names look the same."""

from __future__ import annotations

import collections
import doctest
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from typing import Any

import pytest
import shown_tables
from command_line import COMMAND, EXAMPLE, PROJECT, called
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from shown_tables import PRESETS, document, with_evidence

import beam_bleu.pipeline.display.fitted_rows
from beam_bleu.pipeline.command_line.definition_flags import presets_table
from beam_bleu.pipeline.display.fitted_rows import fitted, narrower
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.table import table
from beam_bleu.pipeline.display.terminal import FILE, Screen, screen_of_stdout
from beam_bleu.transforms.metrics.bleu.config import PRESETS as ALL_PRESETS
from beam_bleu.transforms.shown_names import look

RECORDED = shown_tables.recorded()
DRAWN = shown_tables.drawn()


@pytest.mark.parametrize("title", RECORDED)
def test_a_table_is_as_recorded(title):
    assert DRAWN[title] == RECORDED[title]


def test_all_tables_are_recorded():
    assert list(DRAWN) == list(RECORDED)


@pytest.mark.parametrize("title", [title for title in RECORDED if "unlimited" not in title])
def test_a_recorded_table_is_as_wide_as_its_title_says(title):
    width = int(re.findall(r"(\d+) cells", title)[0])
    assert max(map(cell_len, RECORDED[title].splitlines())) <= width


# For any names, numbers and widths


def visible(name: str) -> bool:
    return bool(look(name).strip()) and name == name.strip() and name.isprintable()


PARTS = [
    "base",
    "step-",
    "1000",
    "-",
    ".",
    " ",
    "é",
    "u\u0308",
    "東京",
    "한국어",
    "[red]",
    "|",
    "…",
]
NAMES = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PARTS), max_size=25).map("".join),
    # Names that differ only in the middle.
    st.integers(0, 99).map(lambda number: f"{'a long beginning ' * 2}{number}{' and end' * 4}"),
).filter(visible)
SYSTEMS = st.lists(NAMES, min_size=1, max_size=9, unique_by=look)
NUMBERS = st.floats(0, 1e6)
WIDTHS = st.integers(40, 200)


@st.composite
def documents(draw: Any) -> dict[str, Any]:
    systems = draw(SYSTEMS)
    compared = draw(st.sampled_from([[], list(ALL_PRESETS), PRESETS]))
    found = document(systems, compared)
    order = draw(st.integers(1, 16))
    for score in found["scores"]:
        score["score"] = draw(NUMBERS)
        score["precisions"] = draw(st.lists(NUMBERS, min_size=order, max_size=order))
        score["sys_len"] = draw(st.integers(0, 10**15))
        score["ref_len"] = draw(st.one_of(st.integers(0, 10**15), st.floats(0, 1e15)))
    return found


def numbers_of(found: dict[str, Any], decimals: int) -> collections.Counter[str]:
    """The numbers that a table shows."""
    numbers: list[str] = []
    for score in found["scores"]:
        numbers += [f"{each:.{decimals}f}" for each in (score["score"], *score["precisions"])]
        numbers += [f"{score['bp']:.3f}", f"{score['ratio']:.3f}", str(score["sys_len"])]
        length = score["ref_len"]
        numbers.append(str(length) if isinstance(length, int) else f"{length:.1f}")
    for preset in found.get("presets", []):
        numbers += [f"{score['score']:.{decimals}f}" for score in preset["scores"]]
    return collections.Counter(numbers)


@given(documents(), WIDTHS, st.integers(0, 15))
def test_a_table_fits_and_all_its_numbers_are_whole(found, width, decimals):
    text = table(found, ["a remark with some words and /a/path"], decimals, Screen(width))
    assert max(map(cell_len, text.splitlines())) <= width
    shown = collections.Counter(re.split(r"[\s/]+", text))
    assert numbers_of(found, decimals) - shown == collections.Counter()


@given(SYSTEMS.filter(lambda systems: len(systems) > 1), WIDTHS, st.integers(0, 15), st.data())
def test_comparisons_fit_and_all_their_numbers_are_whole(systems, width, decimals, data):
    found = with_evidence(document(systems))
    numbers: list[float] = []
    for each in found["comparisons"]:
        each["difference"] = data.draw(st.floats(-100, 100))
        if each["interval"]:
            each["interval"] = [each["difference"] - 1, each["difference"] + 1]
        each["detectable"] = each["detectable"] and data.draw(st.floats(0, 100))
        numbers += [each["difference"]]
        numbers += [each["detectable"]] * (each["slice"] is None)
    text = table(found, (), decimals, Screen(width))
    assert max(map(cell_len, text.splitlines())) <= width
    shown = collections.Counter(re.split(r"[\s/]+", text.replace("+", " ").replace("-", " ")))
    expected = collections.Counter(f"{abs(number):.{decimals}f}" for number in numbers)
    assert expected - shown == collections.Counter()


@given(SYSTEMS, st.integers(12, 60))
def test_narrower_names_fit_and_do_not_look_the_same(names, width):
    shown = narrower(names, width)
    assert max(cell_len(line) for name in shown for line in name.split("\n")) <= width
    assert len(set(map(look, shown))) == len(names)
    for name, short in zip(names, shown, strict=True):
        parts = short.split("…")
        if "\n" in short:
            assert short.replace("\n", "") == name
        elif short != name:  # what is shown comes in the same order in the name
            assert cell_len(name) > width
            assert re.search(".*".join(map(re.escape, parts)), name)


@given(documents(), WIDTHS)
def test_all_blocks_have_the_same_names_in_the_same_order(found, width):
    rows = [("system", *"abc"), *((each["system"], "1" * 30, "2", "3") for each in found["scores"])]
    blocks = fitted(rows, Screen(width))
    names = [[row[0] for row in block] for block in blocks]
    assert names == names[:1] * len(blocks)
    assert [cell for block in blocks for cell in block[0][1:]] == ["a", "b", "c"]


@given(documents())
def test_a_file_gets_whole_names_and_no_line_ends(found):
    lines = table(found).splitlines()
    assert lines[0] == f"BLEU|{found['metrics'][0]['signature']}"
    rows = lines[4:] if "presets" not in found else lines[4 : lines.index("", 4)]
    assert len(rows) == len(found["scores"])
    for row, score in zip(rows, found["scores"], strict=True):
        assert row.startswith(printable(score["system"]) + " ")


def test_only_the_middle_of_a_name_is_left_out():
    examples = doctest.testmod(beam_bleu.pipeline.display.fitted_rows)
    assert (examples.attempted, examples.failed) == (1, 0)
    # The words that differ stay, even in the middle.
    assert narrower([f"a-common-start-{n}-and-a-common-end" for n in (10, 20)], 16) == [
        "a-comm…10…on-end",
        "a-comm…20…on-end",
    ]


def test_names_that_cannot_be_cut_go_on_in_the_next_line():
    names = ["a" * 20 + "b" * n + "a" * (30 - n) for n in range(1, 20)]
    assert narrower(names, 12) == ["\n".join(re.findall(".{1,12}", name)) for name in names]


def test_an_accent_is_not_cut_from_its_letter():
    name = "e\u0301" * 20
    assert narrower([name], 12) == ["e\u0301" * 5 + "…" + "e\u0301" * 6]


# What the screen is


def test_rich_markup_in_a_name_is_text():
    name = "[red]x[/red]"
    for screen in (FILE, Screen(80), Screen(80, colour=True)):
        assert name in table(document([name, "y"]), screen=screen)


def test_a_terminal_that_is_narrower_than_40_cells_gets_the_layout_for_40():
    assert table(document(["atlas"]), screen=Screen(7)) == RECORDED["one system, 40 cells"].replace(
        "a remark\n", ""
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_list_of_presets_fits(width):
    lines = presets_table(Screen(width)).splitlines()
    assert max(map(len, lines)) <= width
    for name in ALL_PRESETS:
        assert any(line.split()[:1] == [name] for line in lines)
    plain, shown = (
        collections.Counter(text.split()) for text in (presets_table(), " ".join(lines))
    )
    assert {word for word in plain if "," not in word} <= shown.keys()


def test_the_best_system_is_bold():
    found = document(["low", "high", "middle"])
    for each, score in zip(found["scores"], (1.0, 3.0, 2.0), strict=True):
        each["score"] = score
    lines = table(found, screen=Screen(80, colour=True)).splitlines()[3:]
    assert lines[0].startswith("\x1b[36msystem ")
    assert [line.startswith("\x1b[1m") for line in lines[1:]] == [False, True, False]
    assert lines[2].endswith("\x1b[0m")
    # There is no best one of one.
    assert "\x1b[1m" not in table(document(["atlas"]), screen=Screen(80, colour=True))


@pytest.mark.parametrize("columns", [80, 40])
def test_the_best_score_of_each_metric_is_bold(columns):
    found = document(["a" * 20, "b" * 20])
    found["metrics"].append({**found["metrics"][0], "metric": "ter", "name": "TER"})
    found["metrics"].append({**found["metrics"][0], "metric": "chrf", "name": "chrF2"})
    found["scores"] = [
        {**entry, "metric": metric, "score": score}
        for metric, scores in (
            ("bleu", (10.0, 20.0)),
            ("ter", (30.0, 40.0)),
            ("chrf", (50.0, 50.0)),
        )
        for entry, score in zip(found["scores"], scores, strict=True)
    ]
    for entry in found["scores"]:
        entry |= {"interval": [entry["score"] - 1, entry["score"] + 1]}
    text = table(found, screen=Screen(columns, colour=True))
    bold = re.findall("\x1b\\[1m(.*?)\x1b\\[0m", text)
    assert sorted(bold) == ["20.0 ± 1.0", "30.0 ± 1.0", "50.0 ± 1.0", "50.0 ± 1.0"]
    plain = table(found, screen=Screen(columns))
    assert re.sub("\x1b\\[[0-9;]*m", "", text) == plain


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "colour"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),  # https://no-color.org: "when present and not an empty string"
        ({"TERM": "dumb"}, False),
        ({"TERM": ""}, False),
    ],
)
def test_when_a_terminal_has_colour(variables, colour, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm", "COLUMNS": "70", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert screen_of_stdout() == Screen(70, colour)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert screen_of_stdout() == FILE
    monkeypatch.setattr(sys, "stdout", None)
    assert screen_of_stdout() == FILE


def on_a_terminal(width: int, arguments: list[Any], **variables: str) -> str:
    """What the command shows on a real terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=PROJECT,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**kept, "TERM": "xterm", **variables},
    )
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 1 << 16):
            shown += data
    except OSError:  # Linux reports an error at the end
        pass
    os.close(ours)
    assert process.wait(timeout=120) == 0
    return shown.decode().replace("\r\n", "\n")


def test_a_real_terminal():
    shown = on_a_terminal(50, EXAMPLE)
    assert "\x1b[36msystem" in shown
    assert "\x1b[1matlas" in shown
    plain = re.sub(r"\x1b\[\d*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 50
    assert plain == table(called(*EXAMPLE, "--format=json").document, screen=Screen(50))


def test_a_real_terminal_without_colour():
    # sacreBLEU brings colorama, which would reset the colours of a terminal at the end.
    assert on_a_terminal(80, [*EXAMPLE, "-b"], NO_COLOR="1") == called(*EXAMPLE, "-b").out.decode()
    shown = on_a_terminal(60, ["--preset", "list"], NO_COLOR="1")
    assert shown == presets_table(Screen(60))
    assert "\x1b" not in shown
