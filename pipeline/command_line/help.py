"""The texts of --help and -h, and the table of subcommands; without Beam, so -h is instant."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator

from beam_bleu.pipeline.errors.told_errors import EXIT_CODES


@dataclasses.dataclass(frozen=True)
class Subcommand:
    module: str
    summary: str
    words: str = "[flags]"


SUBCOMMANDS = {
    "compare": Subcommand(
        "compare", "compare two runs: their differences, and how sure they are", "OLD NEW [flags]"
    ),
    "copy": Subcommand(
        "files", "copy a file in one step, between any filesystems", "FILE TO [flags]"
    ),
    "doctor": Subcommand("doctor", "check the installation, and show what it can use"),
    "files": Subcommand(
        "files", "list files, on any filesystem; exit code 3: no files", "PATTERN... [flags]"
    ),
    "gate": Subcommand(
        "compare", "judge saved results by thresholds; exit code 4: missed", "RESULT... [flags]"
    ),
    "history": Subcommand(
        "nights", "show the scores of many nights, and what changed", "DIR... [flags]"
    ),
    "merge": Subcommand(
        "totals", "add up saved totals, as if one run had scored all", "FILE... [flags]"
    ),
    "meta": Subcommand(
        "meta", "show how well metrics agree with people", "[DIR] --human NAME [flags]"
    ),
    "report": Subcommand(
        "nights", "make an HTML page of results, to show to people", "RESULT... [flags]"
    ),
    "rescore": Subcommand("totals", "score saved totals by another definition", "FILE [flags]"),
    "table": Subcommand(
        "table", "write the scores of results as Parquet, for a database", "RESULT... > FILE"
    ),
    "worst": Subcommand("worst", "show the worst segments, or those that lost most", "DIR [flags]"),
}
"""Each is a function `NAME_command(argv) -> int` in a module of `subcommands`, imported on use."""

_NARROWEST, _WIDEST = 80, 100
_FLAGS_WIDTH = 26

_EXAMPLES = (
    ("score two systems, as with sacrebleu", "beam-bleu ref.txt -i base.txt tuned.txt"),
    (
        "score each file of a folder with two references, lower-cased",
        "beam-bleu refs/a.txt refs/b.txt -i 'outputs/*.txt' -lc",
    ),
    (
        "score records that have candidates and references",
        "beam-bleu --input out.jsonl --candidate_columns mt --reference_columns ref",
    ),
    (
        "score a system of many files on a cluster, and write scores.json",
        "beam-bleu --references 's3://corpus/ref/*.gz' \\\n"
        "            --candidates 'tuned=s3://corpus/tuned/*.gz' \\\n"
        "            --output s3://corpus/scores \\\n"
        "            --runner FlinkRunner --flink_master host:8081",
    ),
)

_SYNOPSIS = (
    "beam-bleu REF... -i [NAME=]FILE... [flags] [Beam's flags]",
    "beam-bleu --input PATTERN [flags] [Beam's flags]",
)


USUAL_FLAGS = {
    "REF ...": "files of references, a segment on each line",
    "-i [NAME=]FILE ...": "outputs of systems, or patterns of them in quotes",
    "--input PATTERN": "records: JSON lines, CSV, TSV or Parquet",
    "--candidate_columns NAME": "the columns of records that have the candidates",
    "--reference_columns NAME": "the columns that have the references",
    "--join_on COLUMN": "bring records of several files together by an id",
    "--where COLUMN=VALUE": "score only such records; also COLUMN!=VALUE",
    "-tok NAME": "the tokenizer",
    "-l LANG": "the language, which chooses the tokenizer",
    "-lc": "lower-case the texts",
    "--preset NAME": "the BLEU of another tool; list shows them",
    "-b": "print only the score",
    "-w N": "decimals of the scores",
    "--format NAME": "text, json, tsv, markdown, latex, ...",
    "--output DIR": "write scores.json and other files into a folder",
    "--save_totals": "keep the sums, for merge, rescore and compare",
    "--slice_by LABEL,...": "scores of slices, too",
    "--language_column NAME": "several languages: each has its tokenizer",
    "--compare all": "compare every pair of systems",
    "--fail_under SCORE": "exit with code 4 if a score is lower",
    "--runner NAME": "run on an engine, such as FlinkRunner",
}
"""The flags that most people need, and what -h says about them."""

TOPICS = {
    "input": "inputs",
    "records": "inputs",
    "definition": "metrics",
    "output": "tables",
    "monitoring": "result",
    "slices": "inputs",
    "evidence": "significance",
    "gates": "nights",
    "engine": "operating",
    "messages": "tables",
}
"""The topics of --help, and their pages in `docs`. A topic shows the groups of flags whose titles
contain its word."""


def page_of(title: str) -> str:
    return [page for topic, page in TOPICS.items() if topic in title][-1]


def searches(word: str) -> Iterator[Callable[[str], bool]]:
    """Ways to find a word in a text: as a whole, then as the beginning of a longer word."""
    written = re.escape(word.strip("-_ ").replace("-", "_"))
    for end in ("(?![a-z0-9])", ""):
        yield functools.partial(_has, re.compile(f"(?<![a-z0-9]){written}{end}", re.IGNORECASE))


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text.replace("-", "_")) is not None


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Formats help as wide as the terminal, up to a limit. Long words, such as URLs, stay whole."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_FLAGS_WIDTH, width=_columns() - 1)
        self._action_max_length = _FLAGS_WIDTH  # so that all help has the same columns

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(
            " ".join(text.split()), width, break_long_words=False, break_on_hyphens=False
        )

    def _format_action_invocation(self, action: argparse.Action) -> str:
        more = " ..." if action.nargs in ("+", "*") else ""
        if not action.option_strings:
            return f"{action.metavar}{more}"
        value = "" if action.nargs == 0 else f" {action.metavar}"
        return ", ".join(action.option_strings) + value + more


def usage() -> str:
    return "\n       ".join([*_SYNOPSIS, *(usage_of(name) for name in SUBCOMMANDS)])


def usage_of(subcommand: str) -> str:
    return f"beam-bleu {subcommand} {SUBCOMMANDS[subcommand].words}"


def short_help() -> str:
    synopsis = "\n       ".join(_SYNOPSIS)
    commands = textwrap.fill(f"--help shows all flags and commands ({', '.join(SUBCOMMANDS)}).", 80)
    topics = textwrap.fill(
        f"--help WORD shows those about a word: a topic ({', '.join(TOPICS)}), a metric, or any "
        "other.",
        80,
    )
    return (
        f"usage: {synopsis}\n\n{rows(USUAL_FLAGS.items())}\n\n{_examples(3)}\n\n"
        f"{commands}\n{topics}\n"
    )


def epilog() -> str:
    commands = rows((f"beam-bleu {name}", row.summary) for name, row in SUBCOMMANDS.items())
    codes = rows((", ".join(map(str, row.codes)), row.meaning) for row in EXIT_CODES)
    more = textwrap.fill(
        "All other flags are Apache Beam's: see --help_beam. Put flags that only an engine knows "
        "after --. In flags, hyphens and underscores mean the same.",
        _columns() - 1,
    )
    return (
        f"other commands:\n{commands}\n\n{_examples(len(_EXAMPLES))}\n\n"
        f"exit codes:\n{codes}\n\n{more}"
    )


def _columns() -> int:
    return min(shutil.get_terminal_size((_NARROWEST, 24)).columns, _WIDEST)


def _examples(count: int) -> str:
    shown = (f"  # {what}\n  {command}" for what, command in _EXAMPLES[:count])
    return "examples:\n" + "\n".join(shown)


def rows(named: Iterable[tuple[str, str]]) -> str:
    listed = list(named)
    width = max(len(name) for name, _ in listed)
    return "\n".join(f"  {name:<{width}}  {text}" for name, text in listed)
