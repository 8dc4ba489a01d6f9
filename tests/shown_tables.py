"""Documents for tests of tables, and the tables that were recorded for them.

`python tests/shown_tables.py` records them again. Look at the changes with `git diff`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

from command_line import EXAMPLES, called

from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.display.output_formats import FORMATS
from beam_bleu.pipeline.display.row_order import USUAL_ROWS, RowChoice
from beam_bleu.pipeline.result.document import document_bytes, read_result
from beam_bleu.transforms.version import VERSION

RECORDED = pathlib.Path(__file__).with_name("shown_tables.txt")
_START = "=== "

SIGNATURE = "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-1.2.3"

SYSTEMS = ["atlas", "birch", "cobalt"]
LANGUAGES = [
    EXAMPLES / "languages" / "references.txt",
    *("--labels", f"pair={EXAMPLES / 'languages' / 'pairs.txt'}", "--language_column", "pair"),
    *("-i", *sorted((EXAMPLES / "languages" / "systems").iterdir())),
    "--no_uncertainty",  # there are 12 segments
]
"""The command line for a corpus in four languages."""
PRESETS = [f"preset{number}" for number in range(30)]


def document(
    systems: Sequence[str], presets: Sequence[str] = (), signature: str = SIGNATURE
) -> dict[str, Any]:
    """A result document with invented numbers."""
    metric = {"metric": "bleu", "name": "BLEU", "signature": signature}
    found: dict[str, Any] = {
        "metrics": [{**metric, "sacrebleu_signature": None}],
        "segments": 2000,
        "scores": [score(system, number) for number, system in enumerate(systems)],
    }
    if presets:
        found["presets"] = [
            {
                "metric": "bleu",
                "preset": preset,
                "signature": signature.replace("exp", f"method{row}"),
                "sacrebleu_signature": None,
                "warnings": [],
                "scores": [score(system, row + 7 * i) for i, system in enumerate(systems)],
            }
            for row, preset in enumerate(presets)
        ]
    return found


def as_entries(clusters: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """The clusters of BLEU, as a document has them."""
    return [{"metric": "bleu", "systems": list(systems)} for systems in clusters]


def with_evidence(found: dict[str, Any], *, documents: int | None = None) -> dict[str, Any]:
    """The document with uncertainty, comparisons, clusters and resampling, all of them invented."""
    systems = [each["system"] for each in found["scores"]]
    baseline, *others = systems
    unit = "segment" if documents is None else "document"
    units = documents or found["segments"]
    slices = [{"domain": "news"}, {"domain": None}]
    found["scores"] += [
        {**each, "slice": of_slice, "segments": 20 + 40 * row}
        for row, of_slice in enumerate(slices)
        for each in found["scores"]
    ]
    for number, each in enumerate(found["scores"]):
        error = None if each["segments"] < 30 else 0.45 + number % 3 * 2.5
        each |= {"standard_error": error, "interval": interval(each["score"], error)}
    found["uncertainty"] = {"unit": unit, "label": None, "units": units, "confidence": 0.95}
    found["comparisons"] = [
        comparison(system, baseline, number, of_slice, segments)
        for of_slice, segments in [(None, 2000), (slices[0], 20), (slices[1], 60)]
        for number, system in enumerate(others)
    ]
    found["comparison_families"] = [
        {"metric": "bleu", "family": "corpus", "description": "", "comparisons": len(others)},
        {"metric": "bleu", "family": "slices", "description": "", "comparisons": len(others)},
    ]
    ranked = sorted(systems, key=lambda name: -found["scores"][systems.index(name)]["score"])
    found["clusters"] = as_entries([ranked[:1], ranked[1:]])
    found["resampling"] = {
        "method": "bootstrap",
        "resamples": 1000,
        "seed": 12345,
        "unit": unit,
        "generator": "",
        "scores": [
            {
                "metric": "bleu",
                "system": each,
                "mean": 20.1 + number,
                "interval": [9.06, 31.0 + number],
            }
            for number, each in enumerate(systems)
        ],
        "comparisons": [
            {
                "metric": "bleu",
                "system": each,
                "baseline": baseline,
                "difference": 1.26 - number,
                "mean": 1.2 - number,
                "interval": [0.4 - number, 2.1 - number],
                "p_value": 0.02,
                "p_sacrebleu": 0.01,
            }
            for number, each in enumerate(others)
        ],
    }
    return found


def comparison(
    system: str,
    baseline: str,
    number: int,
    of_slice: dict[str, str | None] | None = None,
    segments: int = 2000,
) -> dict[str, Any]:
    """An entry of comparisons, with invented numbers. Fewer than 30 segments give no p-value."""
    difference = 7.04 - 12.5 * number
    found: dict[str, Any] = {
        "metric": "bleu",
        "system": system,
        "baseline": baseline,
        "slice": of_slice,
        "segments": segments,
        "units": segments,
        "difference": difference,
        "standard_error": None,
        "interval": None,
        "p_value": None,
        "p_value_holm": None,
        "detectable": None,
        "family": "corpus" if of_slice is None else "slices",
    }
    if segments >= 30:
        error = 0.31 + number * 5.1
        found |= {"standard_error": error, "interval": interval(difference, error)}
        p_value = 0.0 if number == 0 else 0.021
        found |= {"p_value": p_value, "p_value_holm": 2 * p_value, "detectable": 2.8 * error}
    return found


def interval(center: float, error: float | None) -> list[float] | None:
    return None if error is None else [center - 1.96 * error, center + 1.96 * error]


def score(system: str, number: int) -> dict[str, Any]:
    """A system's entry, with invented numbers."""
    return {
        "metric": "bleu",
        "system": system,
        "slice": None,
        "segments": 2000,
        "score": 20.04 + 7 * number % 61,
        "precisions": [60.13 + 7 * number % 40, 30.5, 20.25, 9.75],
        "matches": [6013, 3050, 2025, 975],
        "totals": [10000, 9500, 9000, 8500],
        "bp": 0.9876,
        "ratio": 0.98774,
        "sys_len": 48123 + number,
        "ref_len": 48721,
    }


def compared_all(number: int) -> dict[str, Any]:
    """A document in which each pair of this many systems is compared."""
    systems = [f"s{i}" for i in range(number)]
    found = with_evidence(document(systems))
    found["comparisons"] = [
        comparison(systems[i], systems[j], i) for i in range(number) for j in range(i)
    ]
    found["clusters"] = as_entries([systems[:1], systems[1:]])
    found["comparison_families"][0]["comparisons"] = number * (number - 1) // 2
    return found


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


def shown(
    format: str,
    found: dict[str, Any],
    *,
    decimals: int | None = None,
    choice: RowChoice = USUAL_ROWS,
    remarks: Sequence[str] = (),
) -> str:
    """What stdout shows of a document."""
    rows = {"sort": choice.sort, "only_significant": choice.only_significant}
    display = DisplayFlags(format=format, width=decimals, **rows)
    return display.shown(document_bytes(found), read_result(found), remarks).decode()


def table(found: dict[str, Any], **choices: Any) -> str:
    """The tables of a document as text."""
    return shown("text", found, **choices)


def drawn() -> dict[str, str]:
    """All tables, by their titles."""
    evidence = with_evidence(document(SYSTEMS), documents=130)
    hostile = ["[50%]", r"a--b_~\{x}", "*东|`京`", "\x1b[2Jx" + "very-long-" * 6, "[red]-1"]
    several = document(SYSTEMS)
    several["metrics"].append({**several["metrics"][0], "metric": "ter", "name": "TER"})
    several["scores"] += [{**score, "metric": "ter"} for score in several["scores"]]
    randomization = with_evidence(document(SYSTEMS[:2]))
    randomization["resampling"] |= {"method": "randomization", "scores": []}
    randomization["resampling"]["comparisons"][0] |= {"mean": None, "interval": None}
    documents = {
        "a system": document(SYSTEMS[:1]),
        "several metrics": {**several, "partitions": ["1", "2", "3", None]},
        "evidence": evidence,
        "randomization": randomization,
        "hostile names": with_evidence(document(hostile)),
        "presets": document(SYSTEMS, PRESETS[:3]),
        "all pairs": compared_all(4),
        "slices": of_slices("ter"),
    }
    tables = {}
    for title, found in documents.items():
        tables[f"{title}, text"] = table(found, remarks=["a remark_"])
        if title != "slices":
            for format in ("markdown", "latex", "jsonl", "tsv"):
                tables[f"{title}, {format}"] = shown(format, found, decimals=1, remarks=["a *"])
    for format in [name for name in FORMATS if name != "json"]:
        run = called(*LANGUAGES, "--format", format)
        assert (run.code, run.err) == (0, "")
        tables[f"languages, {format}"] = run.out.decode().replace(VERSION, "1.2.3")
    return tables


def recorded() -> dict[str, str]:
    """The recorded tables, by their titles."""
    parts = RECORDED.read_text().split(_START)[1:]
    return dict(part.split("\n", 1) for part in parts)


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{_START}{title}\n{text}" for title, text in drawn().items()))
