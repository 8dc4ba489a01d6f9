"""Checks that saved totals were made in the same way, so that they can be added or compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from beam_bleu.pipeline.saved.content import of_definition, of_evidence
from beam_bleu.pipeline.saved.saved_totals import SavedTotals
from beam_bleu.transforms.errors import InputError, joined

_REPEAT = "repeat one of the runs with the flags of the other one"

_REMEDIES = {
    "metrics": "repeat one of the runs; or choose metrics that both have, in the same order: "
    "beam-bleu rescore FILE --metrics NAME ... --output DIR",
    "scoring": "give them the same definition first: BLEU, and the formula of chrF, with beam-bleu "
    "rescore; otherwise by repeating a run",
    "input": "merge only results of inputs of the same form",
}
"""What to do if something else than the flags of a run differs."""

SCORES = ("metrics", "text", "versions", "scoring")
"""The parts of a definition that make scores of texts."""

EVERYTHING = (*SCORES, "other scores", "columns", "slicing", "evidence", "input")
"""The parts that must be the same if totals are added up, the most important one first."""


class Differing(NamedTuple):
    """What differs between two saved totals.

    Attributes:
      name: what it is, as users know it.
      one: its value in the first one.
      other: its value in the other one.
      remedy: what to do.
    """

    name: str
    one: Any
    other: Any
    remedy: str


def differing(one: SavedTotals, other: SavedTotals, parts: Sequence[str]) -> Iterator[Differing]:
    """What differs in some parts of two definitions."""
    facts, others = _facts(one), _facts(other)
    for part in parts:
        for name in {**facts[part], **others[part]}:
            values = facts[part].get(name), others[part].get(name)
            if values[0] != values[1]:
                yield Differing(name, *values, _REMEDIES.get(part, _REPEAT))


def _facts(saved: SavedTotals) -> dict[str, dict[str, Any]]:
    """What totals depend on: its parts, and in each one the values by their names."""
    definition = of_definition(saved, [None] * len(saved.scorings))
    coverage = saved.totals.coverage
    facts: dict[str, dict[str, Any]] = {
        "metrics": {"metrics": " ".join(saved.scorings)},
        "text": {
            "language_column": definition["languages"],
            "the label of tasks without a common score": definition["unpooled"],
        },
        "versions": {f"the version of {name}": version for name, version in saved.versions.items()},
        "scoring": {},
        "other scores": {},
        "columns": {},
        "slicing": {
            "slice_by": " ".join(map(saved.slicing.name_of_item, range(len(saved.slicing.items))))
            or None,
            "length_edges": saved.slicing.length_edges,
            "max_slices": saved.slicing.most,
        },
        "evidence": _flat(of_evidence(saved.evidence)),
        "input": {
            "coverage": None if coverage is None else coverage.rule,
            "counters of records": saved.totals.is_tallied,
        },
    }
    for metric, fields in zip(saved.metrics, definition["metrics"], strict=True):
        of = f" of {metric.scorings.shown}" if len(saved.scorings) > 1 else ""
        facts["text"] |= _flat(fields["text"], of)
        facts["scoring"] |= _flat(fields["scoring"], of)
        presets = {preset["name"]: preset for preset in fields["presets"]}
        facts["other scores"] |= {
            f"compare_presets{of}": ",".join(presets) or None,
            **{f"preset {name}{of}": preset for name, preset in presets.items()},
            f"the scoring of segments{of}": fields["segments"],
        }
        facts["columns"][f"the counted columns{of}"] = [
            totals.corpus.width for totals in metric.texts.values()
        ]
    return facts


def _flat(fields: Mapping[str, Any], of: str = "") -> dict[str, Any]:
    """Fields by their names; those of an object in a field stand beside it."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        flat |= _flat(value, of) if isinstance(value, Mapping) else {f"{name}{of}": value}
    return flat


def require_same(files: Sequence[tuple[str, SavedTotals]]) -> None:
    """Checks that the totals of several files can be added up.

    Args:
      files: the path of each file, and what it holds.

    Raises:
      InputError: they cannot; it names what differs, and both files.
    """
    first_path, first = files[0]
    for path, saved in files[1:]:
        for name, one, other, remedy in differing(first, saved, EVERYTHING):
            raise InputError(
                f"{first_path} and {path} cannot be added up: {name} is {shown(one)} in the "
                f"first one, and {shown(other)} in the second one",
                remedy,
            )
        _require_same_systems(first_path, first.totals.systems, path, saved.totals.systems)


def _require_same_systems(
    first_path: str, first: Sequence[str], path: str, systems: Sequence[str]
) -> None:
    pairs = ((path, systems, first_path, first), (first_path, first, path, systems))
    for lacking, own, having, others in pairs:
        missing = [name for name in others if name not in own]
        if missing:
            raise InputError(
                f"{lacking} has no system {joined(missing)}, but {having} does",
                "score the same systems in all partitions",
            )
    if systems != first:
        raise InputError(
            f"the systems of {path} are in a different order from those of {first_path}: "
            f"{joined(systems)}, and {joined(first)}",
            "name the systems in the same order in all runs",
        )


def shown(value: Any) -> str:
    """A fact, as a part of a message."""
    if value is None or value == "":
        return "not given"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)
