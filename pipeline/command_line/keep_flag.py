"""The flag --keep: what of the input goes into the scores of segments as it is."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.command_line.flags import flag
from beam_bleu.pipeline.command_line.record_flags import columns
from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.pairing.line_parallel.corpus import LabelStream
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.pairing.records.columns.wanted import KEPT_TEXTS
from beam_bleu.transforms.shown_names import can_be_shown

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

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


def _item(text: str) -> tuple[str, str]:
    """(NAME, COLUMN) of a column; NAME is "" for the usual one."""
    named = _NAMED.fullmatch(text)
    name, column = (named[1], named[2]) if named else ("", text)
    if not can_be_shown(name or column) or text.startswith("="):
        raise ValueError(f"must be [NAME=]COLUMN,..., with printable names, got {text!r}")
    return name, column


@dataclasses.dataclass(frozen=True)
class KeepFlag:
    """--keep."""

    keep: tuple[tuple[str, str], ...] = flag(
        (),
        "columns to copy into segment scores and examples, such as id,source: columns of records, "
        f"or labels of --labels; {KEPT_TEXTS} stands for the texts of candidates and references. "
        "NAME= gives a column another name",
        "[NAME=]COLUMN,...",
        convert=_item,
        split=lambda text: columns(utf8(text)),
    )


def keep(flags: Config) -> Keep:
    """What a command line asks to keep.

    Raises:
      UsageError: two columns would have the same name, or the texts are kept nowhere.
    """
    texts = ("", KEPT_TEXTS) in flags.keep
    kept = [(name or column, column) for name, column in flags.keep]
    if texts:
        kept = [pair for pair in kept if pair != (KEPT_TEXTS, KEPT_TEXTS)]
    _refuse_taken([name for name, _ in kept], ())
    if texts and not flags.segment_scores:
        raise UsageError(
            f"--keep {KEPT_TEXTS} has no effect without --segment_scores: examples have the "
            "texts in any case",
            f"add --segment_scores, or leave {KEPT_TEXTS} out",
        )
    return Keep(tuple(kept), texts)


def _refuse_taken(names: Sequence[str], others: Collection[str]) -> None:
    """Checks that columns that are kept have other names than each other, and than others.

    Raises:
      UsageError: two have the same.
    """
    taken = {name.casefold() for name in others}
    for name in names:
        if name.casefold() in taken:
            raise UsageError(
                f"--keep {name}: there is a column of this name already",
                "give the column that is kept another name, or leave it out: --keep NAME=COLUMN",
            )
        taken.add(name.casefold())


def kept_of_join(kept: Keep, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The columns to keep of records that have ids, which are kept in any case, as `id`.

    Args:
      kept: what is asked for.
      ids: the columns of the ids.

    Raises:
      UsageError: another column would have the name of the ids.
    """
    own = [(name, column) for name, column in kept.columns if (name, column) != (KEPT_ID, *ids)]
    _refuse_taken([name for name, _ in own], [KEPT_ID])
    return tuple(own)


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
    known = {name for stream in streams for name in stream.names}
    if kept.texts and KEPT_TEXTS in known:
        raise UsageError(
            f"--keep {KEPT_TEXTS} stands for the texts of candidates and references, but there is "
            f"a label called {KEPT_TEXTS}, too",
            f"give the label another name: --labels NAME=PATTERN --keep NAME,{KEPT_TEXTS}",
        )
    wanted = {label for _, label in kept.columns}
    for label in sorted(wanted - known):
        raise UsageError(
            f"--keep {label}: no file of --labels has a label with this name",
            f"name a file with a value for each segment: --labels {label}=PATTERN; labels of "
            "--label_from_path are shown in any case",
        )
    only_kept = wanted - {*labels}
    return tuple(
        stream
        if stream.domain_first
        else dataclasses.replace(
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
    _refuse_taken([name for name, _ in kept.columns], [*columns, *labels])
