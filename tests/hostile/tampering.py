"""Changes every field of real totals.json files, with right digests; see the README here."""

from __future__ import annotations

import argparse
import collections
import copy
import dataclasses
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

if __name__ == "__main__":
    _TESTS = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(_TESTS), str(_TESTS.parent)]

from checks import DifferenceError, check, check_refusal
from command_line import Argument, Run, called
from saved_runs import RUN_NAMES, make_run

from beam_bleu.pipeline.saved.totals_file import sha256_of

Runner = Callable[..., Run]

Kind = Literal["name", "choice", "corpus"]
"""What a change of a field can do if it is accepted: it changes what a person reads, and no number;
it asks another question of the same sums, as a flag of `rescore` does; or it makes the file that of
another corpus, which is possible, too."""


@dataclasses.dataclass(frozen=True)
class Reason:
    """A row of `REASONS`.

    Attributes:
      field: the paths of the fields, as a regular expression.
      kind: what accepted changes of them can do.
      why: why no check can refuse them all.
      runs: the names of the runs to which it applies, as a regular expression.
    """

    field: str
    kind: Kind
    why: str
    runs: str = ".*"


_METRIC = r"metrics\[\d+\]\."

_ANY_SUMS = rf"{_METRIC}sums\[\d+\]\.systems\.\w+\."

REASONS = (
    Reason(r"program", "name", "which version has counted is not in the result"),
    Reason(
        r"definition\.slicing\.(length_edges.*|most)",
        "name",
        "the edges name slices of lengths, and are wrong only if the texts of a slice are too "
        "short or too long for its name; --max_slices is a bound",
    ),
    Reason(
        r"definition\.metrics\[\d+\]\.scoring\..*",
        "corpus",
        "rescore writes such totals: the same sums with another definition",
    ),
    Reason(
        r"definition\.metrics\[\d+\]\.segments\..*",
        "name",
        "the scores of segments are in other files",
    ),
    Reason(
        r"definition\.metrics\[\d+\]\.presets",
        "choice",
        "a run with fewer presets can have counted the same tokens",
    ),
    Reason(r"evidence\.(compare_all|baseline)", "choice", "rescore can choose it as well"),
    Reason(
        r"evidence\.uncertainty",
        "choice",
        "replicates of documents need moments, with standard errors or without them",
        runs="documents",
    ),
    Reason(r"evidence\.documents", "name", "it is the name of a label, and units are counted"),
    Reason(
        r"evidence\.resampling\.seed",
        "corpus",
        "random weights cannot be drawn again without the texts; compare no longer sees pairs",
    ),
    Reason(rf"{_METRIC}(slices|moments)\.keys.*", "name", "the names of slices"),
    Reason(
        r"partitions\[\d+\]\.inputs\[\d+\]\.(digest|labels.*)",
        "corpus",
        "no digest can be computed without the texts; compare no longer sees pairs",
    ),
    Reason(
        r"partitions\[\d+\]\.(label|inputs\[\d+\])",
        "corpus",
        "another label has other random weights, and references in another order can be of other "
        "segments; compare no longer sees pairs",
    ),
    Reason(
        rf"{_METRIC}moments\.slice_pairs.*",
        "name",
        "without slices, no pair of their systems is used",
    ),
    Reason(
        r"partitions\[\d+\]\.(label|inputs.*)",
        "name",
        "what was read is listed in manifest.json, and the label is repeated",
    ),
    Reason(
        r"is_tallied",
        "corpus",
        "a run with --on_bad_record reject has counters, although no line is bad",
    ),
    Reason(r"warnings.*|rejected.*", "name", "sentences and names of reasons for a reader"),
    Reason(
        r"tally\.(judged|met).*",
        "name",
        "another number of records that meet a condition, which only a warning tells",
    ),
    Reason(r"tally\.left_out.*", "corpus", "another reason for which segments are left out"),
    Reason(r"coverage.*", "corpus", "what is missing from a corpus of which more was left out"),
    Reason(
        rf"{_ANY_SUMS}signs\..*",
        "corpus",
        "another number of texts that look suspicious, which only a warning tells",
    ),
    Reason(
        rf"{_METRIC}slices\.by_reference\..*",
        "corpus",
        "texts of another slice look suspicious, which only a warning tells",
    ),
    Reason(
        rf"{_ANY_SUMS}(candidate|reference)_bytes", "corpus", "texts of other characters or lines"
    ),
    Reason(
        rf"{_ANY_SUMS}columns\[\d+\]",
        "corpus",
        "without slices, standard errors and replicates, other texts can have these sums",
        runs="one system",
    ),
    Reason(
        rf"{_METRIC}sums\[[1-9]\]\.systems\.\w+\.columns\[\d+\]",
        "corpus",
        "the tokens of presets have sums only: no slices, standard errors or replicates",
    ),
    Reason(
        rf"{_METRIC}moments\.(slice_)?cross_products\.values\[\d+\]",
        "corpus",
        "the sums of products of two systems' columns have bounds only",
    ),
    Reason(
        rf"{_METRIC}moments\.(own|common)_products\.values\[\d+\]",
        "corpus",
        "of a system that lacks segments, the products have bounds only",
        runs="join",
    ),
    Reason(
        rf"{_METRIC}replicates\.sums\.values\[\d+\]",
        "corpus",
        "the random weights of a replicate have bounds only",
    ),
    Reason(
        r"evidence\.resampling\.method",
        "corpus",
        "a few replicates of one method can be those of the other one",
    ),
)
"""The reasons for which a change can be accepted. The first one for a field applies."""

_HUGE = 10**30
_JSON = (None, True, 0, 1.5, "x", [], {})


@dataclasses.dataclass(frozen=True)
class Change:
    """A content with one change.

    Attributes:
      field: the path of the field.
      how: what was done to it.
      content: the changed content.
    """

    field: str
    how: str
    content: Any


def changes(content: Any) -> Iterator[Change]:
    """The content with each field changed in each way, one change at a time.

    The content of a change is valid until the next one is taken.
    """
    content = copy.deepcopy(content)
    for path, holder, key in list(_fields(content, "")):
        old = holder[key]
        for how, new in _others(old):
            holder[key] = new
            yield Change(path, how, content)
        holder[key] = old
        if isinstance(holder, dict):
            del holder[key]
            yield Change(path, "missing", content)
            holder[key] = old
            later = list(holder)[list(holder).index(key) + 1 :][:1]
        else:
            later = [key + 1] if key + 1 < len(holder) else []
        for other in later:
            if holder[other] != old:
                holder[key], holder[other] = holder[other], old
                yield Change(path, "swapped with the next one", content)
                holder[key], holder[other] = old, holder[key]


def some_changes(content: Any, chooser: random.Random, number: int) -> Iterator[Change]:
    """So many random changes. All fields are equally probable, however long their arrays are."""
    places: dict[str, list[int]] = {}
    for place, change in enumerate(changes(content)):
        places.setdefault(re.sub(r"\d+", "", change.field), []).append(place)
    chosen = {chooser.choice(chooser.choice([*places.values()])) for _ in range(number)}
    return (each for place, each in enumerate(changes(content)) if place in chosen)


def _fields(value: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """(path, object or list, key or place) of each value in a value."""
    if isinstance(value, dict):
        for key, each in value.items():
            inner = f"{path}.{key}" if path else key
            yield inner, value, key
            yield from _fields(each, inner)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield f"{path}[{place}]", value, place
            yield from _fields(each, f"{path}[{place}]")


def _others(value: Any) -> Iterator[tuple[str, Any]]:
    """Other values, and how they were made."""
    for other in _JSON:
        if type(other) is not type(value):
            yield f"{type(other).__name__} {other!r}", copy.deepcopy(other)
    if isinstance(value, bool):
        yield "flipped", not value
    elif isinstance(value, int | float):
        for how, number in (
            ("zero", 0),
            ("one more", value + 1),
            ("one less", value - 1),
            ("double", 2 * value),
            ("negative", -value),
            ("huge", _HUGE),
            ("as a float", float(value)),
            ("NaN", float("nan")),
        ):
            if number != value or type(number) is not type(value):
                yield how, number
    elif isinstance(value, str):
        yield "another text", f"{value}x"
        if value:
            yield "empty", ""
    elif isinstance(value, list):
        yield "an item more", [*value, copy.deepcopy(value[-1]) if value else 1]
        if value:
            yield "an item less", value[:-1]
            yield "empty", []
    elif isinstance(value, dict):
        yield "a field more", {**value, "more": 1}
        if value:
            yield "empty", {}


@dataclasses.dataclass
class Tampering:
    """Changes a file, and looks at what the command makes of it.

    Attributes:
      name: the name of the run that has written the file.
      file: its path.
      folder: gets the changed files.
      run: runs the command.
      reasons: by reason, the number of accepted changes.
    """

    name: str
    file: Path
    folder: Path
    run: Runner = called
    reasons: dict[Reason, int] = dataclasses.field(default_factory=collections.Counter)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.frame = json.loads(self.file.read_bytes())
        self.numbers = {words: self._numbers(words, self.file) for words in self._words}

    @property
    def _words(self) -> tuple[str, ...]:
        """What the command is asked."""
        rescored = ("rescore --reference_length=shortest", "rescore --smooth_method=floor")
        has_moments = self.frame["content"]["evidence"]["uncertainty"]
        return ("merge", *rescored, *(["compare"] if has_moments else []))

    def changed_file(self, change: Change) -> Path:
        """The file with this change, and with the right digest."""
        path = self.folder / "totals.json"
        data = {**self.frame, "content": change.content, "sha256": _digest(change.content)}
        path.write_text(json.dumps(data))
        return path

    def try_change(self, change: Change) -> None:
        """Tries one change.

        Raises:
          DifferenceError: it is accepted, and no reason is known for this; or it changes a number.
        """
        what = f"{self.name}: {change.field}: {change.how}"
        path = self.changed_file(change)
        run = self.run("merge", path, "--format=json", "--quiet")
        if run.code:
            try:
                check_refusal(run, names=[str(path)])
            except DifferenceError as error:
                raise DifferenceError(f"{what}: {error}") from None
            return
        reason = next((each for each in REASONS if self._applies(each, change.field)), None)
        same = {words: self._is_same(words, path) for words in self._words}
        told = f"{what}: accepted" + (
            "" if all(same.values()) else f", and changes numbers: {same}"
        )
        if reason is None:
            raise DifferenceError(f"{told}, and no reason is known")
        changed = not all(same.values())
        if reason.kind == "choice":
            changed = not self._has_same_scores(path)
        check(reason.kind == "corpus" or not changed, f"{told}, although {reason.why}")
        self.reasons[reason] += 1

    def _applies(self, reason: Reason, field: str) -> bool:
        return bool(re.fullmatch(reason.field, field) and re.fullmatch(reason.runs, self.name))

    def _has_same_scores(self, path: Path) -> bool:
        """Whether the scores of systems are those of the right file."""
        found = [
            [
                (each["metric"], each["system"], each["slice"], each["score"], each["matches"])
                for each in self.run("merge", file, "--format=json", "--quiet").document["scores"]
            ]
            for file in (self.file, path)
        ]
        return found[0] == found[1]

    def _is_same(self, words: str, path: Path) -> bool:
        return self._numbers(words, path) == self.numbers[words]

    def _numbers(self, words: str, path: Path) -> Any:
        subcommand, *flags = words.split()
        files: list[Argument] = [self.file, path] if subcommand == "compare" else [path]
        run = self.run(subcommand, *files, *flags, "--format=json", "--quiet")
        return (run.code, _only_numbers(run.document)) if run.code == 0 else (run.code, run.err)


def _digest(content: Any) -> str:
    try:
        return sha256_of(content)
    except ValueError:  # NaN has no digest
        return "0" * 64


_NAMES = ("label", "partition", "seed", "slice", "warnings")
"""Fields of documents with names, or with sentences."""


def _only_numbers(value: Any) -> Any:
    """A document without its texts."""
    if isinstance(value, dict):
        return {key: _only_numbers(each) for key, each in value.items() if key not in _NAMES}
    if isinstance(value, list):
        return [_only_numbers(each) for each in value]
    return "" if isinstance(value, str) else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the texts; default 0")
    parser.add_argument("--runs", default=",".join(RUN_NAMES), help="default %(default)s")
    parser.add_argument("--share", type=float, default=1.0, help="of the changes; default 1")
    arguments = parser.parse_args()
    chooser = random.Random(arguments.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.runs.split(","):
            folder = Path(temporary) / name.replace(" ", "-")
            file = make_run(name, folder, random.Random(f"{arguments.seed} {name}"))
            tampering = Tampering(name, file, folder / "changed")
            tried = 0
            for change in changes(tampering.frame["content"]):
                if chooser.random() >= arguments.share:
                    continue
                tried += 1
                try:
                    tampering.try_change(change)
                except DifferenceError as error:
                    failures += 1
                    print(f"FAILED {error}", flush=True)
            accepted = sum(tampering.reasons.values())
            print(
                f"{name}: {tried:,} changes, {accepted:,} accepted for a known reason", flush=True
            )
            for reason, number in tampering.reasons.items():
                print(f"  {number:7,} {reason.kind}: {reason.why}", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
