"""The flag --keep: what of the input goes into the scores of segments as it is."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Collection, Sequence

from beam_bleu.pipeline.command_line.record_flags import divided_at_commas
from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.line_parallel.corpus import LabelStream
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.pairing.records.columns.wanted import KEPT_TEXTS
from beam_bleu.transforms.shown_names import can_be_shown

_TEXTS = (None, KEPT_TEXTS)
_NAMED = re.compile(r"([^=\[]+)=(.+)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Keep:
    """What is kept.

    Attributes:
      columns: (name, column) of each column of records, or label of line-parallel text.
      texts: whether the texts of candidates and references are kept.
    """

    columns: tuple[tuple[str, str], ...] = ()
    texts: bool = False


def add_keep_flag(parser: argparse._ActionsContainer) -> None:
    """Adds --keep."""
    parser.add_argument(
        "--keep",
        action="extend",
        type=_items,
        default=[],
        metavar="[NAME=]COLUMN,...",
        help="columns to copy into segment scores and examples, such as id,source: columns of "
        f"records, or labels of --labels; {KEPT_TEXTS} stands for the texts of candidates and "
        "references. NAME= gives a column another name",
    )


def keep(flags: argparse.Namespace) -> Keep:
    """What a command line asks to keep.

    Raises:
      UsageError: two columns would have the same name, or nothing is written that could have what
        is kept.
    """
    items: list[tuple[str | None, str]] = flags.keep
    columns = [(name or column, column) for name, column in items if (name, column) != _TEXTS]
    names = [name.casefold() for name, _ in columns]
    for name, _ in columns:
        if names.count(name.casefold()) > 1:
            raise UsageError(
                f"--keep names two columns {name}", "give each one its own name: --keep NAME=COLUMN"
            )
    if items and not (flags.segment_scores or flags.examples):
        raise UsageError(
            "--keep has no effect without --segment_scores or --examples",
            "give one of them, or leave --keep out",
        )
    if _TEXTS in items and not flags.segment_scores:
        raise UsageError(
            f"--keep {KEPT_TEXTS} has no effect without --segment_scores: examples have the "
            "texts in any case",
            f"add --segment_scores, or leave {KEPT_TEXTS} out",
        )
    return Keep(tuple(columns), _TEXTS in items)


def kept_of_join(kept: Keep, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The columns to keep of records that have ids, which are kept in any case, as `id`.

    Args:
      kept: what is asked for.
      ids: the columns of the ids.

    Raises:
      UsageError: another column would have the name of the ids.
    """
    own = tuple(
        (name, column) for name, column in kept.columns if (name, column) != (KEPT_ID, *ids)
    )
    if any(name.casefold() == KEPT_ID for name, _ in own):
        raise UsageError(
            f"--keep: the column {KEPT_ID} has the ids of {','.join(ids)} in any case",
            "give the other column another name: --keep NAME=COLUMN",
        )
    return own


def kept_streams(
    streams: Sequence[LabelStream], kept: Keep, labels: Collection[str]
) -> tuple[LabelStream, ...]:
    """The streams of labels, with the labels that are only kept marked as such.

    Args:
      streams: the streams of labels.
      kept: what is asked for.
      labels: the labels that are needed for something else, too.

    Raises:
      UsageError: no stream has a label that is kept; or one is called text, so that it is not clear
        what this word stands for.
    """
    of_streams = {name for stream in streams for name in stream.names}
    if kept.texts and KEPT_TEXTS in of_streams:
        raise UsageError(
            f"--keep {KEPT_TEXTS} stands for the texts of candidates and references, but there is "
            f"a label called {KEPT_TEXTS}, too",
            f"give the label another name: --labels NAME=PATTERN --keep NAME,{KEPT_TEXTS}",
        )
    wanted = {label for _, label in kept.columns}
    for label in sorted(wanted - of_streams):
        raise UsageError(
            f"--keep {label}: no file of --labels has a label with this name",
            f"name a file with a value for each segment: --labels {label}=PATTERN; labels of "
            "--label_from_path are shown in any case",
        )
    of_documents = {name for stream in streams if stream.domain_first for name in stream.names}
    only_kept = wanted - {*labels} - of_documents
    return tuple(
        dataclasses.replace(
            stream, only_kept=tuple(name for name in stream.names if name in only_kept)
        )
        for stream in streams
    )


def check_kept(kept: Keep, columns: Sequence[str], labels: Sequence[str], needs: Needs) -> None:
    """Checks that the segment scores can have the columns that are kept.

    Args:
      kept: what is asked for.
      columns: the other columns of the segment scores, without labels.
      labels: the labels, which have columns, too.
      needs: what the metrics need of the input.

    Raises:
      UsageError: a name is that of another column, or no texts are read.
    """
    if kept.texts and not {*TEXTS.roles} <= {*needs.roles}:
        raise UsageError(
            f"--keep {KEPT_TEXTS}: the metrics do not need the texts of candidates and references",
            f"leave {KEPT_TEXTS} out, or ask for a metric of texts, too",
        )
    for name, _ in kept.columns:
        if name.casefold() in {label.casefold() for label in labels}:
            raise UsageError(
                f"--keep {name}: the segment scores have a column for this label already",
                f"leave {name} out of --keep",
            )
        if name.casefold() in {column.casefold() for column in columns}:
            raise UsageError(
                f"--keep {name}: the segment scores have another column of this name",
                "give the column that is kept another name: --keep NAME=COLUMN",
            )


def _items(text: str) -> list[tuple[str | None, str]]:
    """The type of --keep: (NAME, COLUMN) of each column."""
    items: list[tuple[str | None, str]] = []
    for item in divided_at_commas(utf8(text)):
        named = _NAMED.fullmatch(item)
        name, column = (named[1], named[2]) if named else (None, item)
        if not can_be_shown(name or column) or item.startswith("=") or item.endswith("="):
            raise argparse.ArgumentTypeError(
                f"must be [NAME=]COLUMN,..., with names of printable characters, got {text!r}"
            )
        items.append((name, column))
    return items
