"""The flag --lineage: whether a run sends events of OpenLineage."""

from __future__ import annotations

import argparse

from beam_bleu.pipeline.command_line.known_filesystems import has_module
from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.transforms.errors import UsageError, installing
from beam_bleu.transforms.shown_names import can_be_shown

_LIBRARY = "openlineage.client"


def add_lineage_flag(parser: argparse._ActionsContainer) -> None:
    """Adds --lineage."""
    parser.add_argument(
        "--lineage",
        metavar="JOB",
        help="send OpenLineage events of the job JOB, which say what the run reads and writes. "
        "OPENLINEAGE_URL or an openlineage.yml says where to send them; needs the extra lineage",
    )


def lineage(flags: argparse.Namespace) -> str:
    """The name of the job in lineage; "" if the run sends no events.

    Raises:
      UsageError: the name is impossible, the library is missing, or there is no --output.
    """
    if flags.lineage is None:
        return ""
    job = utf8(flags.lineage)
    if not job.strip() or not can_be_shown(job):
        raise UsageError(
            f"--lineage {job!r} cannot be the name of a job",
            "name the job, such as --lineage news-nightly",
        )
    if flags.output is None:
        raise UsageError("--lineage needs --output", "name the folder that the run writes")
    if not has_module(_LIBRARY):
        raise UsageError(
            f"--lineage: the library of OpenLineage is not installed here: there is no module "
            f"{_LIBRARY}",
            installing("lineage"),
        )
    return job
