"""The subcommands of `beam-bleu`: words that do something else than score, if they come first.

A subcommand is one row here and one module of the same name in `subcommands`, with a function
`main(argv) -> int`. It gets the words after the subcommand, prints its own errors, and returns the
exit code. The module is imported only when its subcommand is called.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Subcommand:
    """A subcommand: what it does, for --help, and the words after its name, for usage lines."""

    summary: str
    words: str = "[flags]"


SUBCOMMANDS = {
    "compare": Subcommand(
        "compare two runs: their differences, and how sure they are", "OLD NEW [flags]"
    ),
    "copy": Subcommand("copy a file in one step, between any filesystems", "FILE TO [flags]"),
    "doctor": Subcommand("check the installation, and show what it can use"),
    "files": Subcommand(
        "list files, on any filesystem: exit code 3 without any", "PATTERN... [flags]"
    ),
    "gate": Subcommand("compare saved results with thresholds: exit code 4", "RESULT... [flags]"),
    "history": Subcommand("show the scores of many nights, and what changed", "DIR... [flags]"),
    "merge": Subcommand("add up saved totals: the result of one run over all", "FILE... [flags]"),
    "report": Subcommand("make an HTML page of results, to show to people", "RESULT... [flags]"),
    "rescore": Subcommand("score saved totals by another definition", "FILE [flags]"),
    "worst": Subcommand("show the worst segments, or those that lost most", "DIR [flags]"),
}
"""The subcommands by name. A file with such a name is written with its folder: ./doctor."""
