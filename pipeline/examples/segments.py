"""Segments of a result: its examples, and the worst ones by these or by the scores of all."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.output.file_names import EXAMPLES, MANIFEST, SEGMENT_SCORES
from beam_bleu.pipeline.output.manifest import data_files_of
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.examples.example import KindName
from beam_bleu.transforms.score.shown_numbers import counted
from beam_bleu.transforms.wiring.filesystems import is_local

Entry = Mapping[str, Any]
"""A line of the file of examples; docs/examples.md explains its keys."""

_SHOWN = 20
"""How many choices a message names."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which segments are asked for.

    Attributes:
      metric: by which metric.
      system: of which system.
      against: the system with which it is compared; None if it is not.
      labels: the values that labels, or columns that are kept, of the segments must have; None for
        segments without the label.
      number: the most segments.
      lower_is_better: whether a lower score is better.
    """

    metric: str
    system: str
    against: str | None
    labels: Mapping[str, str | None]
    number: int
    lower_is_better: bool

    @property
    def kind(self) -> KindName:
        """The kind of examples that such segments are."""
        return "worst" if self.against is None else "loss"

    @property
    def slice(self) -> str:
        """The labels, for a reader; "" if there are none."""
        return ", ".join(f"{name}={value_text(value)}" for name, value in self.labels.items())


@dataclasses.dataclass(frozen=True)
class Found:
    """The segments that are shown.

    Attributes:
      entries: the segments, the worst one first, with the keys of the file of examples.
      of_all: how many segments have a score, or lost against the other system; None if that is
        unknown, because these are from the file of examples.
      note: what a reader must know of them; "" if there is nothing.
    """

    entries: Sequence[Entry]
    of_all: int | None = None
    note: str = ""


def _manifest(folder: str) -> Mapping[str, Any]:
    path = f"{folder.rstrip('/')}/{MANIFEST}"
    manifest: Mapping[str, Any] = json.loads(read(path)) if exists(path) else {}
    return manifest


def read_examples(folder: str) -> list[Entry] | None:
    """The examples of a result; None if it has none, or if its manifest is not in the folder.

    Args:
      folder: the folder of the result.

    Raises:
      InputError: the file cannot be read, or is not the one that the run wrote.
    """
    named = _manifest(folder).get("examples")
    path = f"{folder.rstrip('/')}/{EXAMPLES}"
    if named is None or not exists(path):
        return None
    data = read(path)
    if hashlib.sha256(data).hexdigest() != named["sha256"]:
        raise InputError(
            f"{path} does not belong to the {MANIFEST} beside it: its SHA-256 does not match",
            "run it again with --examples, or copy the files of one result again",
        )
    return [json.loads(line) for line in data.splitlines()]


def worst_segments(folder: str, rows: int | None, wanted: Wanted) -> Found:
    """The worst segments, by the scores of all segments if they are on this machine.

    Args:
      folder: the folder of the result.
      rows: how many scores of segments the result says that it has; None if it has none.
      wanted: what is asked for.

    Raises:
      InputError: the result has neither these scores nor examples, or they are damaged.
      UsageError: no segment has such a label, or no example is compared with such a system.
    """
    examples = read_examples(folder)
    if rows is not None and is_local(folder) and (manifest := _manifest(folder)):
        paths = [os.path.join(folder, name) for name in data_files_of(manifest, SEGMENT_SCORES)]
        files = [path for path in paths if os.path.exists(path)]
        if files:
            # It loads pyarrow.
            from beam_bleu.pipeline.examples.segment_files import worst_in_files

            return worst_in_files(files, rows, wanted, examples or [])
    if examples is None:
        raise InputError(
            f"{folder} has neither examples nor the scores of all segments",
            f"run it again with --examples {wanted.number}, which keeps the texts of a few "
            "segments, or with --segment_scores, for any number, slice and pair of systems",
        )
    return _worst_examples(examples, wanted)


def _worst_examples(examples: Sequence[Entry], wanted: Wanted) -> Found:
    of_system = [
        entry
        for entry in examples
        if (entry["metric"], entry["system"]) == (wanted.metric, wanted.system)
    ]
    if wanted.against is not None and wanted.against not in {
        entry["baseline"] for entry in of_system
    }:
        baselines = dict.fromkeys(entry["baseline"] for entry in examples if entry["baseline"])
        raise UsageError(
            f"--against {wanted.against}: the examples compare with "
            f"{joined([*baselines], _SHOWN) if baselines else 'no system'}",
            f"run it again with --baseline {wanted.against}, or with --segment_scores, which "
            "has the scores for any pair of systems",
        )
    values = [{**entry["kept"], **entry["labels"]} for entry in examples]
    names = dict.fromkeys(name for of_entry in values for name in of_entry)
    for name, value in wanted.labels.items():
        require_label(name, value, names, (each[name] for each in values if name in each))
    of_kind = [entry for entry in of_system if entry["kind"] == wanted.kind]
    chosen = [
        entry
        for entry in of_kind
        if wanted.labels.items() <= {**entry["kept"], **entry["labels"]}.items()
    ]
    note = ""
    if len(chosen) < wanted.number and of_kind:
        of_slice = f", {len(chosen)} of them with {wanted.slice}" if wanted.labels else ""
        note = (
            f"the examples have {counted(len(of_kind), 'such segment')}{of_slice}: a run with "
            "--segment_scores has all, for any number, slice and pair of systems; "
            "--examples N has more"
        )
    return Found(chosen[: wanted.number], None, note)


def require_label(
    name: str, value: str | None, names: Iterable[str], values: Iterable[str | None]
) -> None:
    """Checks that segments have a label, and that one of them has this value.

    Args:
      name: the name of the label.
      value: its value; None for segments without the label.
      names: the names of all labels.
      values: the values that the label has.

    Raises:
      UsageError: none of them has it.
    """
    if name not in (names := list(names)):
        raise UsageError(
            f"--slice {name}={value_text(value)}: the segments have no label {name}"
            + (f", but {joined(names, _SHOWN)}" if names else ""),
            "choose one of these labels"
            if names
            else "run it again with --labels or --label_from_path; records have --slice_by and "
            "--keep",
        )
    if value not in (known := set(values)):
        raise UsageError(
            f"--slice {name}={value_text(value)}: no segment has this value",
            f"choose one of {joined(sorted(map(value_text, known)), _SHOWN)}",
        )
