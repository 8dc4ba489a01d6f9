"""What stdout shows of uncertainty: ± beside scores, comparisons, clusters and resampling."""

from __future__ import annotations

import csv
import doctest
import io
import json
import re
from typing import Any

import pytest
import shown_tables
from shown_tables import PRESETS, as_entries, comparison, document, with_evidence

from beam_bleu.pipeline.command_line.output_flags import Display
from beam_bleu.pipeline.display import numbers
from beam_bleu.pipeline.display.comparison_tables import SHOWN_COMPARISONS
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.row_order import RowChoice
from beam_bleu.pipeline.display.table import table
from beam_bleu.pipeline.display.terminal import FILE, Screen
from beam_bleu.pipeline.result.document import document_bytes
from beam_bleu.transforms.score import shown_numbers
from beam_bleu.transforms.score.shown_numbers import p_value, rounded, signed

SYSTEMS = ["atlas", "birch", "cobalt"]


def shown(format: str, found: dict[str, Any], decimals: int | None = None) -> str:
    return Display(format, decimals=decimals).shown(document_bytes(found), found).decode()


def compared_all(number: int) -> dict[str, Any]:
    """A document in which each pair of this many systems is compared."""
    systems = [f"s{i}" for i in range(number)]
    found = with_evidence(document(systems))
    found["comparisons"] = [
        comparison(systems[i], systems[j], i) for i in range(number) for j in range(i)
    ]
    found["comparison_families"][0]["comparisons"] = number * (number - 1) // 2
    return found


def lines_from(text: str, start: str) -> list[str]:
    """The lines of the section that begins like this."""
    lines = text.splitlines()
    (first,) = [i for i, line in enumerate(lines) if line.startswith(start)]
    return lines[first : lines.index("", first) if "" in lines[first:] else None]


def test_numbers_are_aligned():
    for module, examples in ((numbers, 1), (shown_numbers, 2)):
        found = doctest.testmod(module)
        assert (found.attempted, found.failed) == (examples, 0)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "<0.001"),
        (0.000999, "<0.001"),
        (0.001, "0.001"),
        (0.04951, "0.050"),
        (1.0, "1.000"),
        (None, ""),
    ],
)
def test_a_p_value_has_three_decimals(p, text):
    assert p_value(p) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(1.26, "+1.3"), (-0.3, "-0.3"), (-0.04, "0.0"), (0.0, "0.0"), (10, "+10.0")],
)
def test_a_difference_has_a_sign_unless_it_is_0(number, text):
    assert signed(number, 1) == text
    assert rounded(number, 1) == text.removeprefix("+")


@pytest.mark.parametrize(
    ("metric", "errors", "asked", "decimals"),
    [
        ("bleu", [0.021], None, 3),  # 1.8 million segments: 26.314 ± 0.041
        ("bleu", [0.34, 0.094, None], None, 3),
        ("bleu", [0.34], None, 2),
        ("bleu", [0.0996], None, 2),  # 0.10
        ("bleu", [0.99, 1.7], None, 2),
        ("bleu", [1.7], None, 1),
        ("bleu", [23.0], None, 1),
        ("bleu", [0.021], 1, 1),
        ("bleu", [], None, 1),
        ("bleu", [None, 0.0], None, 1),
        ("perplexity", [0.34], None, 2),
        ("perplexity", [None], None, 4),
        ("bleu", [3e-300], None, 12),
    ],
)
def test_decimals_follow_the_smallest_standard_error(metric, errors, asked, decimals):
    assert decimals_of(metric, asked, errors) == decimals


def test_the_score_has_half_of_its_interval_and_the_head_says_so():
    found = with_evidence(document(SYSTEMS))
    lines = table(found).splitlines()
    assert lines[1] == "2000 segments; ± is half of the 95 % interval"
    rows = [re.match(r"\w+ +([\d.]+) ± +([\d.]+) ", line) for line in lines[4:7]]
    assert [row and row.groups() for row in rows] == [
        ("20.04", "0.88"),  # the smallest standard error, 0.45, has two digits
        ("27.04", "5.78"),
        ("34.04", "10.68"),
    ]
    assert len({line.index("±") for line in lines[4:7]}) == 1


def test_documents_are_named_as_units():
    found = with_evidence(document(SYSTEMS), documents=130)
    assert "2000 segments in 130 documents; ± is half" in table(found)


def test_one_segment_and_one_document():
    found = with_evidence(document(SYSTEMS), documents=1)
    found["segments"] = 1
    for each in found["scores"]:
        each |= {"standard_error": None, "interval": None}
    assert table(found).splitlines()[1] == "1 segment in 1 document"


def test_without_intervals_nothing_is_said_about_them():
    found = document(SYSTEMS)
    for each in found["scores"]:
        each |= {"standard_error": None, "interval": None}
    found["uncertainty"] = {"unit": "segment", "label": None, "units": 12, "confidence": 0.95}
    assert table(found) == table(document(SYSTEMS))


def test_a_partition_is_named():
    assert "\npartition 2026-11-21\n" in table({**document(SYSTEMS), "partition": "2026-11-21"})


def test_a_family_of_one_comparison_has_no_adjusted_p():
    rows = lines_from(table(with_evidence(document(SYSTEMS[:2]))), "differences from atlas, on the")
    assert rows[2].split() == ["system", "difference", "p", "detectable"]
    assert rows[3].split() == ["birch", "+7.04", "±", "0.61", "better", "<0.001", "0.87"]


def test_the_family_and_common_segments_are_named():
    found = with_evidence(document(SYSTEMS))
    found["segments"] = 2100
    rows = lines_from(table(found), "differences from atlas, on the whole corpus")
    assert "over the 2000 segments that all systems have" in rows[0]
    assert rows[0].endswith("Holm p: p adjusted for 2 comparisons")


def test_differences_in_slices_are_marked_by_their_adjusted_p():
    found = with_evidence(document(SYSTEMS))
    rows = lines_from(table(found), "differences from atlas, in slices")
    loss = ["-5.46", "±", "10.60", "worse"]
    assert rows[2].split() == ["null", "60", "+7.04", "±", "0.61", "better", *loss]
    assert rows[3].split() == ["news", "20", "+7.04", "-5.46"]  # too few segments for ±
    for each in found["comparisons"]:
        each["p_value_holm"] = 0.05
    rows = lines_from(table(found), "differences from atlas, in slices")
    assert "worse" not in "".join(rows[1:])


def of_slices(metric: str = "bleu") -> dict[str, Any]:
    """A document with 30 slices of one system and its baseline; each slice has its own score."""
    found = document(["atlas", "birch"])
    whole = found["scores"][1]
    found["metrics"][0]["metric"] = metric
    found["scores"] = [
        {**score, "metric": metric, "edits": 1, "ref_length": 1} for score in found["scores"]
    ]
    found["comparisons"] = []
    for number in range(30):
        # 0..4 are real losses of 1.0 to 1.4, 5..9 real gains; the others say nothing, and of
        # these 20..29 have few segments and large differences, and in 19 nothing matches.
        is_real, is_small = number < 10, number >= 20
        is_tested = number < 19
        difference = -1 - number / 10 if number < 5 else number / 10 if is_real else -5 - number
        each = comparison("birch", "atlas", 0, {"domain": f"d{number:02}"}, 1000 - number)
        each |= {
            "metric": metric,
            "difference": -difference if metric == "ter" else difference,
            "p_value": (0.001 if is_real else 0.4) if is_tested else None,
            "p_value_holm": (0.03 if is_real else 1.0) if is_tested else None,
            "units": 29 if is_small else 30,
        }
        found["comparisons"].append(each)
        found["scores"] += [
            {**whole, "metric": metric, "system": system, "slice": each["slice"]}
            | {"score": 50 + number + place, "segments": 1000 - number}
            | {"edits": 1, "ref_length": 1, "standard_error": 1.0, "interval": [1, 2]}
            for place, system in enumerate(["atlas", "birch"])
        ]
    family = {"metric": metric, "family": "slices", "description": "", "comparisons": 20}
    found["comparison_families"] = [family]
    return found


def names_of_slices(text: str, start: str) -> list[str]:
    """The slices of the first table whose head, or the sentence above it, begins like this."""
    after = text[re.search("^" + re.escape(start), text, re.MULTILINE).start() :]
    return re.findall("^d[0-9]{2}", after.split("\n\n")[0], re.MULTILINE)


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_real_losses_come_first_and_are_shown_on_a_terminal(metric):
    found, start = of_slices(metric), "differences from atlas, in slices"
    losses = ["d04", "d03", "d02", "d01", "d00"]
    without = [f"d{number}" for number in range(18, 9, -1)]
    gains = [f"d{number:02}" for number in range(5, 10)]
    small = [f"d{number}" for number in range(29, 19, -1)]
    expected = [*losses, "d19", *without, *gains, *small]
    assert names_of_slices(table(found), start) == expected
    shown = table(found, screen=Screen(200, colour=True))
    assert names_of_slices(shown, start) == expected[:20]
    hidden = "10 of 30 slices are hidden: these are the 20 with the worst differences"
    assert f"{hidden}; --format json shows all of them\n" in shown
    # The scores of the same slices, in their own order.
    assert names_of_slices(shown, "\x1b[36mdomain") == sorted(expected[:20])
    (row,) = (line for line in shown.splitlines() if line.startswith("d04 ") and "worse" in line)
    assert re.search("\x1b\\[31m *[+-]1.4.* worse\x1b\\[0m$", row)
    assert len(re.findall("\x1b\\[32m[^\x1b]* better\x1b", shown)) == 5
    assert "\x1b" not in table(found, screen=Screen(200))


@pytest.mark.parametrize(
    ("sort", "first"),
    [("difference", "d04"), ("score", "d00"), ("name", "d00"), ("segments", "d00")],
)
def test_rows_are_sorted_as_asked(sort, first):
    found = of_slices()
    for start in ("domain ", "differences from atlas, in slices"):
        names = names_of_slices(table(found, choice=RowChoice(sort)), start)
        assert (len(names), names[0]) == (30, first)
    if sort == "score":
        lowest = names_of_slices(table(of_slices("ter"), choice=RowChoice(sort)), "domain ")
        assert lowest[0] == "d29"


def test_only_significant_differences_are_shown_if_asked_for():
    found, only = of_slices(), RowChoice(only_significant=True)
    start = "differences from atlas, in slices"
    names = names_of_slices(table(found, choice=only), start)
    assert names == ["d04", "d03", "d02", "d01", "d00", *(f"d{n:02}" for n in range(5, 10))]
    hidden = "20 of 30 slices are hidden because they have no significant difference"
    assert f"{hidden}; --format json shows all of them" in table(found, choice=only)
    for each in found["comparisons"]:
        each["p_value_holm"] = 0.9
    assert names_of_slices(table(found, choice=only), start) == []
    whole = with_evidence(document(SYSTEMS))
    whole["comparisons"][0]["p_value_holm"] = 0.2
    text = table(whole, choice=only)
    rows = lines_from(text, "differences from atlas, on the whole corpus")
    assert [row.split()[0] for row in rows[3:]] == ["cobalt", "1"]


def test_macro_averages_have_a_table_of_differences():
    found = with_evidence(document(SYSTEMS))
    found["comparison_families"].append(
        {**found["comparison_families"][0], "family": "macro_average"}
    )
    found["macro_average_comparisons"] = [
        {key: value for key, value in each.items() if key != "slice"}
        for each in found["comparisons"][:2]
    ]
    rows = lines_from(table(found), "differences from atlas, on the macro average")
    assert [row.split()[0] for row in rows[3:]] == ["birch", "cobalt"]


def test_all_pairs_name_both_systems_and_are_a_matrix_on_a_terminal():
    found = compared_all(8)
    start = "differences between systems (system minus baseline), on the whole corpus"
    rows = lines_from(table(found), start)
    assert rows[2].startswith("system vs baseline  difference")
    assert len(rows) == 3 + 28
    assert rows[3].startswith("s1 vs s0 ")
    above, *matrix = lines_from(
        table(found, screen=Screen(250)), "differences between systems, on the whole corpus: that"
    )
    assert above.endswith("worse or better where p < 0.05, adjusted by Holm for 28 comparisons")
    best_first = [f"s{number}" for number in range(7, -1, -1)]
    assert matrix[0].split() == ["system", *best_first]
    assert [row.split()[0] for row in matrix[1:]] == best_first
    cells = [matrix[6][matrix[0].index("s1") :], matrix[7][matrix[0].index("s2") :]]
    assert [cell.split()[:2] for cell in cells] == [["-18.0", "worse"], ["+18.0", "better"]]
    asked = table(found, screen=Screen(150), choice=RowChoice("difference"))
    cut = lines_from(asked, start)
    assert len(cut) == 3 + SHOWN_COMPARISONS + 1
    assert cut[-1].startswith("8 of 28 comparisons are hidden: these are the 20 with the worst d")


def test_there_is_a_line_between_clusters():
    found = with_evidence(document(SYSTEMS))
    found["clusters"] = as_entries([["cobalt"], ["birch", "atlas"]])
    rows = lines_from(table(found), "clusters: ")[2:]
    assert [row.split()[:2] for row in rows if not row.startswith("-")] == [
        ["cobalt", "1"],
        ["birch", "2-3"],
        ["atlas", "2-3"],
    ]
    assert [set(row) == {"-"} for row in rows] == [False, True, False, False]


def test_randomization_has_no_mean_and_no_interval():
    found = with_evidence(document(SYSTEMS))
    found["resampling"] |= {"method": "randomization", "scores": []}
    for each in found["resampling"]["comparisons"]:
        each |= {"mean": None, "interval": None}
    rows = lines_from(table(found), "randomization, ")
    assert rows[2].endswith("which counts only larger differences, not those of the same size")
    assert rows[3].split("  ")[-1].strip() == "p of sacreBLEU"
    assert rows[4].split() == ["birch", "+1.3", "0.020", "0.010"]
    assert rows[0].endswith("1000 resamples of segments, seed 12345: differences from atlas")


def test_bootstrap_has_means_and_intervals():
    text = table(with_evidence(document(SYSTEMS)))
    rows = lines_from(text, "bootstrap, 1000 resamples of segments, seed 12345: scores")
    assert rows[2] == "atlas   20.1  9.1 to 31.0"
    rows = lines_from(text, "bootstrap, 1000 resamples of segments, seed 12345: diff")
    assert rows[1] == "p: not adjusted for the number of comparisons"
    assert rows[2].endswith("as sacreBLEU computes it, which finds too many differences")
    assert rows[5] == "cobalt  +0.26       +0.20  -0.60 to +1.10  0.020  0.010"


def test_a_bootstrap_of_too_few_units_has_only_means():
    found = with_evidence(document(SYSTEMS))
    for each in found["resampling"]["scores"] + found["resampling"]["comparisons"]:
        each |= {"interval": None}
    for each in found["resampling"]["comparisons"]:
        each |= {"p_value": None, "p_sacrebleu": None}
    found["resampling"]["resamples"] = 1
    text = table(found)
    rows = lines_from(text, "bootstrap, 1 resample of segments, seed 12345: scores")
    assert rows[1:3] == ["system  mean", "atlas   20.1"]
    rows = lines_from(text, "bootstrap, 1 resample of segments, seed 12345: diff")
    assert rows[1] == "system  difference  mean"
    assert rows[2:] == ["birch   +1.3        +1.2", "cobalt  +0.3        +0.2"]


def test_what_has_no_p_value_has_no_table_and_no_legend():
    found = with_evidence(document(SYSTEMS))
    for each in found["comparisons"]:
        if each["slice"] is None or each["slice"]["domain"] is None:
            each |= dict.fromkeys(("interval", "p_value", "p_value_holm", "detectable"))
    of_length = [
        {**each, "slice": {"length": "10-19"}, "interval": [1, 2], "p_value": 0.2}
        for each in found["comparisons"]
        if each["slice"] == {"domain": "news"}
    ]
    found["comparisons"] += of_length
    found["comparison_families"][0]["comparisons"] = 0
    found["comparison_families"][1]["comparisons"] = 1
    text = table(found)
    assert "on the whole corpus" not in text
    assert "detectable" not in text
    assert "in slices by domain" not in text
    assert "differences from atlas, in slices by length; " in text
    assert "adjusted by Holm for 1 comparison\n" in text


def test_the_only_p_value_of_a_family_has_no_adjusted_p():
    found = with_evidence(document(SYSTEMS))
    found["comparisons"][1] |= dict.fromkeys(("interval", "p_value", "p_value_holm", "detectable"))
    found["comparison_families"][0]["comparisons"] = 1
    rows = lines_from(table(found), "differences from atlas, on the whole corpus")
    assert rows[0].endswith("; ± is half of the 95 % interval")
    assert rows[2].split() == ["system", "difference", "p", "detectable"]


def test_clusters_of_less_than_two_systems_are_not_shown():
    found = with_evidence(document(SYSTEMS))
    for clusters in ([], [["atlas"]]):
        found["clusters"] = as_entries(clusters)
        assert "clusters: " not in table(found)


def test_tsv_and_json_lines_have_the_uncertainty_at_the_end():
    found = with_evidence(document(SYSTEMS, PRESETS[:1]))
    for each in found["presets"][0]["scores"]:
        each |= {"standard_error": 0.5, "interval": [1.25, 2.5]}
    new = ["standard_error", "interval_low", "interval_high"]
    (header, *_), text = (shown("tsv", found).splitlines(), shown("tsv", found, 1))
    old = shown("tsv", document(SYSTEMS, PRESETS[:1])).splitlines()[0]
    assert header.split("\t") == [*old.split("\t"), *new]
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [rows[0][key] for key in new] == ["0.5", "19.2", "20.9"]
    assert [rows[3][key] for key in new] == ["", "", ""]  # 20 segments
    assert [rows[-1][key] for key in new] == ["0.5", "1.2", "2.5"]
    lines = [json.loads(line) for line in shown("jsonl", found).splitlines()]
    assert [list(each)[-3:] for each in lines] == [new] * len(lines)
    assert [lines[0][key] for key in new] == [0.45, *found["scores"][0]["interval"]]
    assert [lines[3][key] for key in new] == [None] * 3


def test_only_scores_are_as_before():
    found = with_evidence(document(SYSTEMS))
    data = document_bytes(found)
    assert Display(score_only=True).shown(data, found) == b"20.0\n27.0\n34.0\n"


def test_presets_and_averages_have_their_intervals():
    found = with_evidence(document(SYSTEMS, PRESETS[:2]))
    for each in found["presets"]:
        each["scores"][0] |= {"standard_error": 0.5, "interval": [20.0, 22.5]}
    assert re.search(r"preset0 +20.04 ± 1.25 +69.04 ", table(found))


@pytest.mark.parametrize("screen", [FILE, Screen(40), Screen(80)])
def test_a_name_cannot_write_to_the_terminal(screen):
    found = with_evidence(document(["a\x1b[2J", "b\x1b[2J", "c"]))
    assert "\x1b" not in table(found, screen=screen)
    assert shown_tables.SIGNATURE[:10] in table(found, screen=screen)
