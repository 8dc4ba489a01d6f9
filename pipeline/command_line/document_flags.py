"""The flag --documents: which segments belong to one document."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.paths import checked_path
from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.transforms.definition.slicing import LENGTH, Slicing
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.pairing.files.streams import Stream
from beam_bleu.transforms.pairing.line_parallel.labels import LabelStream

DOCUMENT = "document"
"""The name of the label if --documents names files."""


def add_document_flag(parser: argparse._ActionsContainer) -> None:
    """Adds --documents."""
    parser.add_argument(
        "--documents",
        metavar="PATTERN|NAME",
        help="the document of each segment: segments of a document are not independent, so "
        "standard errors and comparisons are those of documents. For text a file with the name of "
        "a document in each line, perhaps after a domain and a tab, or the NAME of a label; for "
        "records the NAME of a column",
    )


def document_stream(flags: argparse.Namespace, anywhere: bool) -> LabelStream | None:
    """The stream of documents, for line-parallel text; None if a stream of --labels has them.

    Args:
      flags: the parsed flags, with the settings of their layout.
      anywhere: whether the job may run in another folder than this process.

    Raises:
      UsageError: it is not clear what the value means, or there is no path.
    """
    text = flags.documents
    if text is None:
        return None
    labels = _names_of_labels(flags)
    if utf8(text) in labels:
        if os.path.exists(text):
            raise UsageError(
                f"--documents {text} is the name of a label and of a file",
                f"write ./{text} for the file, or give the label another name",
            )
        return None
    if DOCUMENT in labels:
        raise UsageError(
            f"--documents {text} names a file, whose label would be called {DOCUMENT}, and "
            f"--labels has a label of this name",
            f"write --documents {DOCUMENT} for this label, or give it another name",
        )
    return LabelStream(
        (DOCUMENT,),
        Stream("documents", checked_path("--documents", text, anywhere)),
        domain_first=True,
    )


def document_label(flags: argparse.Namespace, labels: Sequence[str]) -> str | None:
    """The label with the document of each segment; None without --documents.

    Args:
      flags: the parsed flags.
      labels: the labels of the source that was made from them.
    """
    if flags.documents is None:
        return None
    name = utf8(flags.documents)
    return name if name in labels else DOCUMENT


def check_documents(
    label: str | None, evidence: Evidence, slicing: Slicing, columns: Sequence[str] | None
) -> None:
    """Checks that the label with the documents can have its name, and has an effect.

    Args:
      label: the label with the documents; None without --documents.
      evidence: what the job finds out about its scores.
      slicing: the slices.
      columns: the other columns of the segment scores, which have one for each label; None if
        they are not written.

    Raises:
      UsageError: it cannot have this name, or has no effect.
    """
    if label is None:
        return
    if label in ("", LENGTH):
        raise UsageError(
            f"--documents {label}: no column with documents can have this name",
            "name the column with the document of each record",
        )
    is_used = evidence.uncertainty or evidence.resampling is not None
    if not is_used and label not in slicing.labels and columns is None:
        raise UsageError(
            "--documents has no effect with --no_uncertainty: no score depends on documents",
            "leave out one of them, or add --resample",
        )


def _names_of_labels(flags: argparse.Namespace) -> set[str]:
    """The names of the labels of --labels and of --label_from_path."""
    named = (text.partition("=")[0] for text in flags.labels)
    of_files = {utf8(name.strip()) for each in named for name in each.split(",")}
    return of_files | {each.name for each in flags.label_from_path}
