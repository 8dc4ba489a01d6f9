"""Makes and writes the report, one HTML file that loads nothing; equal results give equal bytes."""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from beam_bleu.pipeline.display.row_order import verdict
from beam_bleu.pipeline.display.score_tables import conditions_of
from beam_bleu.pipeline.display.table import is_numeric
from beam_bleu.pipeline.errors.printable import printable, value_text
from beam_bleu.pipeline.examples import Entry, heading, read_examples, read_listed, scores, texts
from beam_bleu.pipeline.folder.file_names import CONFUSIONS, REPORT, SCORES
from beam_bleu.pipeline.folder.locking import locked
from beam_bleu.pipeline.folder.paths import require_module
from beam_bleu.pipeline.folder.publication import is_owned
from beam_bleu.pipeline.folder.storage import write_atomically
from beam_bleu.pipeline.report.charts import SHAPES, short
from beam_bleu.pipeline.report.figures import (
    UNCERTAINTY,
    confusions,
    facts,
    past,
    places,
    reasons,
    standing,
)
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.saved.saved_result import SavedResult, named_if_damaged, read, result_at
from beam_bleu.transforms.errors import JobError, installing, joined

if TYPE_CHECKING:
    import jinja2

    from beam_bleu.pipeline.history.history import History

_FOLDER = pathlib.Path(__file__).parent

_NAMED_SYSTEMS = 3

KINDS = {
    "loss": "{system} loses most against {baseline}",
    "gain": "{system} gains most over {baseline}",
    "worst": "The worst of {system}",
    "best": "The best of {system}",
    "sample": "A random sample of {system}",
}
"""Why the examples of each kind are shown, in the order in which the page shows them."""

_MOST_EXAMPLES = 200

_LONGEST_TEXT = 600

_JOINERS = "\u200c\u200d"
"""Invisible, but kept: without them, emoji and words in Persian or Indian scripts look wrong."""


def require_jinja2() -> None:
    require_module("a report", "jinja2", installing("report"))


@dataclasses.dataclass(frozen=True)
class Headline:
    """What the top of a page says. Without a title, it is the metrics and systems."""

    title: str | None = None
    date: str | None = None
    note: str | None = None


_USUAL = Headline()


def page(saved: SavedResult, history: History | None = None, headline: Headline = _USUAL) -> bytes:
    require_jinja2()
    examples = read_examples(saved.folder) if saved.folder else None
    confused = read_listed(saved.folder, "confusions", CONFUSIONS) if saved.folder else None
    with named_if_damaged(saved.name):
        text = _text(saved, examples or (), confused or (), history, headline)
    # A document can have lone surrogates, from paths that are not UTF-8.
    return text.encode("utf-8", "backslashreplace")


def _text(
    saved: SavedResult,
    examples: Sequence[Entry],
    confused: Sequence[Entry],
    history: History | None,
    headline: Headline,
) -> str:
    result = saved.result
    names = {metric.metric: metric.name for metric in result.metrics}
    systems = result.systems
    shown = joined(systems) if len(systems) <= _NAMED_SYSTEMS else f"{len(systems)} systems"
    segments = _segments(examples, result)
    text: str = (
        templates()
        .get_template("page.html.jinja")
        .render(
            headline=headline,
            scored=f"{joined([*names.values()], len(names))} of {shown}{conditions_of(result)}",
            history=history,
            past=[] if history is None else [*past(history)],
            standing=[*standing(result)],
            uncertainty=UNCERTAINTY if result.has_intervals else "",
            places=[*places(result)],
            reasons=[*reasons(result), *confusions(confused, names)],
            segments=segments,
            systems=systems,
            labels=sorted({label for segment in segments for label in segment.labels}),
            facts=[*facts(saved)],
            warnings=result.all_warnings,
        )
    )
    return text


@dataclasses.dataclass
class Segment:
    """A row of the table of examples: a segment, and why it is shown, with the system of each."""

    entry: Entry
    reasons: dict[str, str]

    @property
    def labels(self) -> list[str]:
        labels = self.entry["labels"].items()
        return [f"{name}={value_text(value)}" for name, value in labels if value is not None]


def _segments(examples: Sequence[Entry], result: Result) -> list[Segment]:
    by_title: dict[str, list[Entry]] = {}
    for example in sorted(examples, key=lambda example: [*KINDS].index(example["kind"])):
        title = KINDS[example["kind"]].format(**example)
        if len(result.metrics) > 1:
            title += f", by {result.metric(example['metric']).name}"
        by_title.setdefault(title, []).append(example)
    most = max(1, _MOST_EXAMPLES // max(len(by_title), 1))
    segments: dict[int, Segment] = {}
    for title, entries in [*by_title.items()][:_MOST_EXAMPLES]:
        for entry in _in_worse_slices_first(entries, result)[:most]:
            segment = segments.setdefault(entry["index"], Segment(entry, {}))
            segment.reasons[f"{title}: {scores(entry)}"] = entry["system"]
    return [*segments.values()]


def _in_worse_slices_first(entries: Sequence[Entry], result: Result) -> list[Entry]:
    """Equal losses are in a random order: those in slices with a significant loss come first."""
    first = entries[0]
    if first["kind"] != "loss":
        return [*entries]
    pair = (first["metric"], first["system"], first["baseline"])
    worse = [
        row.labels.items()
        for row in result.comparisons
        if row.labels and (row.metric, row.system, row.baseline) == pair and verdict(row) == "worse"
    ]

    def place(entry: Entry) -> tuple[float, bool]:
        is_worse = any(labels <= entry["labels"].items() for labels in worse)
        return -abs(entry["difference"]), not is_worse

    return sorted(entries, key=place)


@functools.cache
def templates() -> jinja2.Environment:
    import jinja2
    import markupsafe

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # All texts pass through here, which escapes invisible and control characters.
        finalize=_shown,
    )
    environment.tests["numeric"] = is_numeric
    style, script = (
        markupsafe.Markup((_FOLDER / name).read_text(encoding="utf-8"))
        for name in ("style.css", "filter.js")
    )
    # The page's policy allows no other script: a text that became one would not run.
    digest = hashlib.sha256(script.encode()).digest()
    environment.globals.update(
        shapes=SHAPES,
        short=short,
        longest=lambda texts: max(map(cell_len, texts)),
        heading=heading,
        scores=scores,
        texts=functools.partial(texts, longest=_LONGEST_TEXT),
        style=style,
        script=script,
        script_digest=base64.b64encode(digest).decode(),
    )
    return environment


def _shown(value: Any) -> Any:
    """A text with its invisible characters escaped; markup of the page itself is not changed."""
    import markupsafe

    if isinstance(value, str) and not isinstance(value, markupsafe.Markup):
        return printable(value, keep=f"\n{_JOINERS}")
    return value


def write_report(output: str) -> str:
    """Writes the report of the result in an output folder, which need not have a _SUCCESS yet."""
    folder = output.rstrip("/")
    scores, path = f"{folder}/{SCORES}", f"{folder}/{REPORT}"
    before = read(scores)
    made = page(result_at(folder, must_be_last=False))
    # If a run has replaced the result meanwhile, its folder must not get a page about the old one.
    with locked(folder):
        if read(scores) != before:
            raise JobError(
                f"another run has replaced the result in {output}",
                "give each run a folder of its own",
            )
        write_page(path, made)
    return path


def write_page(path: str, data: bytes) -> None:
    is_owned(path, REPORT)
    write_atomically(path, data)
