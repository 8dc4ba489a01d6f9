"""Results for tests of tables, and the tables that were recorded for them.

`python tests/shown_tables.py` records them again. Look at the changes with `git diff`.
"""

from __future__ import annotations

import itertools
import json
import pathlib
from collections.abc import Sequence
from typing import Any

from command_line import EXAMPLES, REFERENCES, SYSTEMS, called, streams

from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.display.output_formats import FORMATS
from beam_bleu.pipeline.result.document import document_bytes, read_result
from beam_bleu.transforms.version import VERSION

RECORDED = pathlib.Path(__file__).with_name("shown_tables.txt")
_START = "=== "

SIGNATURE = "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-1.2.3"
LANGUAGES = [
    EXAMPLES / "languages" / "references.txt",
    *("--labels", f"pair={EXAMPLES / 'languages' / 'pairs.txt'}", "--language_column", "pair"),
    *("-i", *sorted((EXAMPLES / "languages" / "systems").iterdir())),
    "--no_uncertainty",  # there are 12 segments
]
"""The command line for a corpus in four languages."""
EVIDENCE = [
    *(f"--labels=domain={EXAMPLES / 'domains.txt'}", "--slice_by=domain"),
    *("--resample=bootstrap", "--resamples=100"),
]
"""The flags for slices and for all kinds of intervals and p-values."""


def document(systems: Sequence[str], *flags: str) -> dict[str, Any]:
    """The result of systems with these names and the example's texts. The domain story is null."""
    files = itertools.cycle(SYSTEMS.values())
    named = [f"s{number}={next(files)}" for number in range(len(systems))]
    text = called(*streams(named, REFERENCES), *flags, "--format=json").out.decode()
    for number, name in enumerate(systems):
        text = text.replace(f'"s{number}"', json.dumps(name))
    result: dict[str, Any] = json.loads(text.replace('"story"', "null"))
    for entry in (*result["metrics"], *result.get("presets", ())):
        entry |= {"signature": SIGNATURE, "sacrebleu_signature": None}  # no versions of libraries
    return result


def of_slices(metric: str = "bleu") -> dict[str, Any]:
    """A document with 30 slices of one system and its baseline; each slice has its own score."""
    found = document(["atlas", "birch"], "--metrics", metric)
    whole, (compared,) = found["scores"][1], found["comparisons"]
    found["comparisons"] = []
    for number in range(30):
        # 0..4 are real losses of 1.0 to 1.4, 5..9 real gains; the others say nothing, and of
        # these 20..29 have few segments and large differences, and in 19 nothing matches.
        is_real, is_tested = number < 10, number < 19
        difference = -1 - number / 10 if number < 5 else number / 10 if is_real else -5 - number
        of_slice = {"slice": {"domain": f"d{number:02}"}, "segments": 1000 - number}
        found["comparisons"].append(
            {
                **compared,
                **of_slice,
                "family": "slices",
                "difference": -difference if metric == "ter" else difference,
                "p_value": (0.001 if is_real else 0.4) if is_tested else None,
                "p_value_holm": (0.03 if is_real else 1.0) if is_tested else None,
                "units": 29 if number >= 20 else 30,
            }
        )
        found["scores"] += [
            {**whole, **of_slice, "system": system, "score": 50 + number + place}
            for place, system in enumerate(["atlas", "birch"])
        ]
    family = {"metric": metric, "family": "slices", "description": "", "comparisons": 20}
    found["comparison_families"] = [family]
    return found


def shown(format: str, found: dict[str, Any], remarks: Sequence[str] = (), **flags: Any) -> str:
    """What stdout shows of a document with these flags."""
    display = DisplayFlags(format=format, **flags)
    return display.shown(document_bytes(found), read_result(found), remarks).decode()


def drawn() -> dict[str, str]:
    """All tables, by their titles."""
    hostile = ["[50%]", r"a--b_~\{x}", "*东|`京`", "\x1b[2Jx" + "very-long-" * 6, "[red]&1"]
    documents = f"--documents={EXAMPLES / 'documents.txt'}"
    evidence = document([*SYSTEMS], *EVIDENCE)
    evidence["scores"][2]["interval"] = [6.2, 27.0]
    gain = {"difference": 41.3, "interval": [31.0, 51.6], "p_value": 0.021, "p_value_holm": 0.042}
    evidence["comparisons"][1] |= gain
    results = {
        "a system": document([*SYSTEMS][:1], "--no_uncertainty"),
        "several metrics": document([*SYSTEMS], "--metrics", "bleu", "ter", "--no_uncertainty")
        | {"partitions": ["1", "2", "3", None]},
        "evidence": evidence,
        "all pairs": document(
            [*SYSTEMS, "copy"], documents, "--compare=all", "--resample=randomization"
        ),
        "hostile names": document(hostile, *EVIDENCE),
        "presets": document([*SYSTEMS], "--compare_presets"),
        "slices": of_slices("ter"),
    }
    tables = {}
    for title, found in results.items():
        tables[f"{title}, text"] = shown("text", found, ["a remark_"])
        if title != "slices":
            for format in ("markdown", "latex", "jsonl", "tsv"):
                tables[f"{title}, {format}"] = shown(format, found, ["a *"], width=1)
    for format in [name for name in FORMATS if name != "json"]:
        run = called(*LANGUAGES, "--format", format)
        assert (run.code, run.err) == (0, "")
        tables[f"languages, {format}"] = run.out.decode()
    return {title: text.replace(VERSION, "1.2.3") for title, text in tables.items()}


def recorded() -> dict[str, str]:
    """The recorded tables, by their titles."""
    parts = RECORDED.read_text().split(_START)[1:]
    return dict(part.split("\n", 1) for part in parts)


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{_START}{title}\n{text}" for title, text in drawn().items()))
