"""The tables and other formats of a result are as recorded, and the flags choose among them."""

from __future__ import annotations

import copy
import csv
import dataclasses
import doctest
import io
import json
import re

import pytest
import shown_tables
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams
from shown_tables import EVIDENCE, document, of_slices, shown

from beam_bleu.pipeline.display.output_formats import FORMATS
from beam_bleu.pipeline.display.row_order import View
from beam_bleu.pipeline.display.table import Note, as_text, latex, table_of
from beam_bleu.pipeline.result.document import read_result
from beam_bleu.transforms.known_metrics import metric_type
from beam_bleu.transforms.score import shown_numbers
from beam_bleu.transforms.score.shown_numbers import Number, decimals_for, p_value, rounded, signed


def test_tables_are_as_recorded():
    assert shown_tables.drawn() == shown_tables.recorded()


def test_examples_of_numbers():
    found = doctest.testmod(shown_numbers)
    assert (found.attempted, found.failed) == (2, 0)


def test_small_numbers_have_no_sign_and_no_digits_that_mean_nothing():
    values = (0.0, 0.000999, 0.001, 0.04951, 1.0, None)
    assert [p_value(p) for p in values] == ["<0.001", "<0.001", "0.001", "0.050", "1.000", ""]
    assert [signed(number, 1) for number in (1.26, -0.3, -0.04, 0.0)] == [
        *("+1.3", "-0.3", "0.0", "0.0")
    ]
    assert rounded(-0.04, 1) == "0.0"


def test_decimals_follow_the_smallest_standard_error():
    for metric, errors, decimals in (
        ("bleu", [0.34, 0.094, None], 3),
        ("bleu", [0.0996], 2),  # 0.10
        ("bleu", [0.99, 1.7], 2),
        ("bleu", [23.0], 1),
        ("bleu", [None, 0.0], 1),
        ("perplexity", [None], 4),
        ("bleu", [3e-300], 12),
    ):
        usual = metric_type(metric).score_type.DECIMALS
        assert decimals_for(errors, usual) == decimals, errors


def names_of_slices(text: str, start: str) -> list[str]:
    """The slices of the first table whose head, or the sentence above it, begins like this."""
    after = text[text.index(f"\n{start}") + 1 :]
    return re.findall("^d[0-9]{2}", after.split("\n\n")[0], re.MULTILINE)


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_real_losses_come_first(metric):
    found, start = of_slices(metric), "differences from atlas, in slices"
    losses = ["d04", "d03", "d02", "d01", "d00"]
    without = [f"d{number}" for number in range(18, 9, -1)]
    gains = [f"d{number:02}" for number in range(5, 10)]
    small = [f"d{number}" for number in range(29, 19, -1)]
    expected = [*losses, "d19", *without, *gains, *small]
    assert names_of_slices(shown("text", found), start) == expected


def test_rows_are_sorted_as_asked():
    found = of_slices()
    sorts = {"difference": "d04", "score": "d00", "name": "d00", "segments": "d00"}
    for sort, first in sorts.items():
        for start in ("domain ", "differences from atlas, in slices"):
            names = names_of_slices(shown("text", found, sort=sort), start)
            assert (len(names), names[0]) == (30, first), sort
    lowest = names_of_slices(shown("text", of_slices("ter"), sort="score"), "domain ")
    assert lowest[0] == "d29"


def test_only_significant_differences_are_shown_if_asked_for():
    found, only = of_slices(), {"only_significant": True}
    start = "differences from atlas, in slices"
    names = names_of_slices(shown("text", found, **only), start)
    assert names == ["d04", "d03", "d02", "d01", "d00", *(f"d{n:02}" for n in range(5, 10))]
    hidden = "20 of 30 slices hidden: not significant"
    assert hidden in shown("text", found, **only)
    assert f"{hidden}. Best" in shown("markdown", found, **only).replace("±", "Best")
    whole = document([*SYSTEMS])
    whole["comparisons"][0]["p_value_holm"] = 0.2
    text = shown("text", whole, **only)
    assert "1 of 2 comparisons hidden: not significant" in text
    assert not re.search("^birch .*0.200", text, re.MULTILINE)


def test_scores_that_look_the_same_are_ties():
    found = document([*SYSTEMS])
    for entry, score in zip(found["scores"], (27.04, 27.01, 26.94), strict=True):
        entry["score"] = score
    assert re.findall(r"\*\*(.*?)\*\*", shown("markdown", found)) == ["27.0", "27.0"]
    assert re.findall(r"\*\*(.*?)\*\*", shown("markdown", found, width=2)) == ["27.04"]
    assert "**" not in shown("markdown", document(["a"]))


def test_stars_follow_the_adjusted_p_value():
    found = document(["atlas", "birch"])
    for p, mark in ((0.0009, "***"), (0.001, "**"), (0.049, "*"), (0.05, ""), (None, "")):
        found["comparisons"][0] |= {"p_value": 0.0001, "p_value_holm": p}
        text = shown("markdown", found, width=1)
        assert ("significantly different from atlas" in text) == (p is not None)
        escaped = mark.replace("*", r"\*")
        sup = f"<sup>{escaped}</sup>" if mark else ""
        assert re.search(rf"\| birch  \| 37\.9 ± 4\.1{re.escape(sup)} +\|", text)


@pytest.fixture(scope="module")
def replicated():
    """A document of several metrics with slices and replicates, which tests may change."""
    found = document([*SYSTEMS], "--metrics", "bleu", "ter", "chrf", "wer", *EVIDENCE)
    return lambda: copy.deepcopy(found)


def test_stars_are_of_the_test_that_was_asked_for(replicated):
    found = replicated()
    for entry in found["resampling"]["comparisons"]:
        entry["p_value"] = 0.03 if entry["metric"] == "bleu" else 0.001  # by Holm 0.06 and 0.002
    text = shown("latex", found).partition(r"\end{table}")[0]
    assert "from atlas by bootstrap, 100 resamples of segments ({*}{*}{*} p $<$ 0.001" in text
    assert re.findall(r"(?<!phantom\{)\$\^\{(\**)\}", text) == ["**"] * 6
    for entry in found["resampling"]["comparisons"]:
        entry["p_value"] = None  # of few segments
    assert "from atlas by a z-test ({*}{*}{*} p" in shown("latex", found)


def test_replicates_have_one_table_for_each_metric(replicated):
    text = shown("latex", replicated())
    assert len(re.findall("resamples of segments, seed 12345: scores, and differences", text)) == 4
    assert len(re.findall(r"^atlas & [\d.]+ & [\d.]+ to [\d.]+ &  &  \\\\$", text, re.M)) == 4
    assert len(re.findall(r"^system & its .* & p & p of sacreBLEU \\\\$", text, re.M)) == 4


def test_a_difference_has_the_same_decimals_with_and_without_replicates():
    found = document([*SYSTEMS], "--resample=randomization", "--resamples=100")
    for entry in found["comparisons"]:
        entry["standard_error"] = 0.34
    differences = re.findall(r"^birch +(-[\d.]+)", shown("text", found), re.M)
    assert differences == ["-19.94"] * 2


def test_a_wide_table_is_divided_and_each_part_names_its_rows(monkeypatch):
    columns = [("task", ["a"] * 20), ("metric", ["BLEU"] * 20)]
    columns += [(name * 60, [Number("12.5")] * 20) for name in "xyz"]
    table = table_of(columns, ["Scores", "Best first"], [Note("BLEU", None, "version:1")])
    monkeypatch.setenv("COLUMNS", "80")
    heads = re.findall(r"^task  metric  (x+|y+|z+)$", as_text(table), re.M)
    assert heads == ["x" * 60, "y" * 60, "z" * 60]
    text = latex([table, table], ())
    said = ["Scores. Best first.", "Scores (continued).", "Scores (continued)."]
    assert re.findall(r"\\caption\{(.*)\}", text) == said * 2
    assert re.findall(r"\\label\{tab:scores(.*)\}", text) == ["", "-2", "-3", "-4", "-5", "-6"]
    assert text.count("version:1") == 2


def test_long_names_do_not_part_scores_from_their_difference():
    numbers = [Number("0.250", "0.129", "***")] * 3
    columns = [("metric", ["mean acc", "chrF2", "mean acc"])]
    columns += [(name, numbers) for name in ("base", "tuned", "tuned - base", "Holm p")]
    tasks = ["leaderboard_math_[hard]", "leaderboard_math_[hard]", "average"]
    table = table_of([("task", tasks), *columns], ["Scores"])
    heads = r"^((?:task & )?metric & .*) \\\\$"
    assert re.findall(heads, latex([table], ()), re.M) == [
        *("task & metric & base & tuned", "task & metric & tuned - base & Holm p")
    ]
    text = latex([dataclasses.replace(table, together=3)], ())
    assert re.findall(heads, text, re.M) == [
        *("metric & base & tuned & tuned - base", "metric & Holm p")
    ]
    first_cells = re.findall(r"^(\\multi.*(?= \\\\)|[\w ]+(?= & .*0\.25))", text, re.M)
    wide = r"\multicolumn{4}{@{}l}{\textit{%s}}"
    assert first_cells[:5] == [
        *(wide % r"leaderboard\_math\_{[}hard]", "mean acc", "chrF2"),
        *(wide % "average", "mean acc"),
    ]


def test_all_pairs_can_be_shown_as_differences_from_the_best_system():
    found = document([*SYSTEMS], "--metrics", "bleu", "ter", "--compare=all")
    for entry in found["scores"]:
        if (entry["metric"], entry["system"]) in (("bleu", "birch"), ("ter", "cobalt")):
            entry["score"] = {"bleu": 99.0, "ter": 1.0}[entry["metric"]]
    for entry in found["comparisons"]:
        entry["p_value_holm"] = 0.02 if "cobalt" in (entry["system"], entry["baseline"]) else 0.2
    view = View(read_result(found), decimals=0, from_best=True)
    rows = re.findall(r"^\| (\w+) +\| (.*?) +\| (.*?) +\|$", FORMATS["markdown"][1](view), re.M)
    assert [(name, "sup" in bleu, "sup" in ter) for name, bleu, ter in rows[1:]] == [
        ("atlas", False, True),
        ("birch", False, True),
        ("cobalt", True, False),
    ]
    assert "different from the best system of the metric by a z-test" in FORMATS["latex"][1](view)


def test_systems_can_be_sorted_by_score(replicated):
    found = replicated()
    for entry in found["scores"]:
        if (entry["metric"], entry["slice"], entry["system"]) == ("bleu", None, "cobalt"):
            entry["score"] = 99.0
    for format in ("text", "markdown"):
        text = shown(format, found, sort="score")
        names = re.findall(r"^\W*(atlas|birch|cobalt) ", text, re.M)
        assert names[:3] == ["cobalt", "atlas", "birch"]
        assert re.search(r"^\W*atlas .*57\.8", text, re.M)


def test_slices_of_length_are_in_the_order_of_length():
    text = called(*EXAMPLE, "--slice_by=length").out.decode()
    assert re.findall("^[0-9]+-[0-9]+", text, re.M) == ["0-9", "10-19", "20-29", "30-39"] * 2


def test_a_legend_is_shown_once(replicated):
    text = shown("text", replicated())
    for legend in ("± is half", "Holm p:", "detectable:", "worse or better", "p of sacreBLEU:"):
        assert text.count(legend) == 1, legend
    assert text.count("differences from atlas, on the whole corpus\n") == 4


def test_tables_are_as_wide_as_the_terminal(replicated, monkeypatch):
    whole = shown("text", replicated())
    for columns in (50, 80, 140):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = shown("text", replicated())
        assert max(len(line) for line in text.splitlines() if " " in line) <= columns
        assert {*text.split()} == {*whole.split()}
        heading = re.findall("^system .*BLEU.*", text, re.M)[0]
        assert ("WER" in heading) == (columns > 50)
        assert ("\n\nsystem  WER" in text) == (columns == 50)


def test_tsv_has_the_fields_of_json_lines_with_all_digits():
    lines, tsv = (
        called(*EXAMPLE, "--compare_presets", "-f", name).out for name in ("jsonl", "tsv")
    )
    text = io.StringIO(tsv.decode())
    rows = [*csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)]
    for row, line in zip(rows, map(json.loads, lines.splitlines()), strict=True):
        lists = {
            name: " ".join(map(str, line[name])) for name in ("precisions", "matches", "totals")
        }
        texts = {name: "" if value is None else str(value) for name, value in line.items()}
        assert row == {"preset": "", **texts, **lists}


def test_decimals_are_those_of_the_scores():
    scores = [score["score"] for score in called(*EXAMPLE, "-fjson").document["scores"]]
    for flags, decimals in [(["-b"], 1), (["--score-only", "-w3"], 3), (["-bw", "0"], 0)]:
        run = called(*EXAMPLE, *flags)
        assert (run.code, run.err) == (0, "")
        assert run.out.decode() == "".join(f"{score:.{decimals}f}\n" for score in scores)
    one = streams([SYSTEMS["atlas"]], REFERENCES)
    for flags, expected in (
        ([], "atlas 57.8 ± 3.4 84.4/65.7/51.3/39.4 1.000 1.029 1275 1239"),
        (["-w2"], "atlas 57.84 ± 3.39 84.39/65.67/51.28/39.38 1.000 1.029 1275 1239"),
    ):
        *_, row = called(*one, *flags).out.decode().splitlines()
        assert row.split() == expected.split()
    for width in ("16", "1.5"):
        called(*EXAMPLE, "-w", width).assert_failed(2, "--width", f"0 to 15, got {width}")
