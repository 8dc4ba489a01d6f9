"""The subcommands of `beam-bleu`: words that do something else than score, if they come first.

A subcommand is one row here and one module of the same name in `subcommands`, with a function
`main(argv) -> int`. It gets the words after the subcommand, prints its own errors, and returns the
exit code. The module is imported only when its subcommand is called.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Subcommand:
    """A subcommand.

    Attributes:
      summary: what it does, for --help.
      words: the words after its name, for the usage lines.
      details: what it does with results, for the README; "" if it reads none.
    """

    summary: str
    words: str = "[flags]"
    details: str = ""


SUBCOMMANDS = {
    "compare": Subcommand(
        "compare two runs: their differences, and how sure they are",
        "OLD NEW [flags]",
        "shows how two runs differ, and how certain the differences are "
        "([two nights](docs/significance.md#did-last-nights-job-drop))",
    ),
    "copy": Subcommand(
        "copy a file in one step, between any filesystems",
        "FILE TO [flags]",
    ),
    "doctor": Subcommand("check the installation, and show what it can use"),
    "files": Subcommand(
        "list files, on any filesystem: exit code 3 without any",
        "PATTERN... [flags]",
    ),
    "gate": Subcommand(
        "compare saved results with thresholds: exit code 4",
        "RESULT... [flags]",
        "checks the scores: exit code 4 if one is too low, or has dropped "
        "([gates](docs/terminal.md#gates))",
    ),
    "history": Subcommand(
        "show the scores of many nights, and what changed",
        "DIR... [flags]",
        "shows the scores of many nights, what changed and what is missing "
        "([history](docs/history.md))",
    ),
    "merge": Subcommand(
        "add up saved totals: the result of one run over all",
        "FILE... [flags]",
        "adds up the days of a month, with the result of one run over all texts; warns of missing "
        "days ([totals](docs/totals.md))",
    ),
    "report": Subcommand(
        "make an HTML page of results, to show to people",
        "RESULT... [flags]",
        "makes one HTML page to send to colleagues: who is best, where and why "
        "([the report](docs/report.md))",
    ),
    "rescore": Subcommand(
        "score saved totals by another definition",
        "FILE [flags]",
        "scores with other smoothing, weights or orders "
        "([totals](docs/totals.md#score-by-another-definition))",
    ),
    "worst": Subcommand(
        "show the worst segments, or those that lost most",
        "DIR [flags]",
        "shows the worst segments, or those that lost most against another system "
        "([examples](docs/examples.md#show-them))",
    ),
}
"""The subcommands by name. A file with such a name is written with its folder: ./doctor."""
