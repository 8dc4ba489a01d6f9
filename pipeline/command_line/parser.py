"""A strict argparse parser, the flags for stderr, and rules: which flags need or exclude others."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from beam_bleu.pipeline.errors.terminal import (
    LOG_FORMATS,
    PROGRESS_MODES,
    LogFormatName,
    ProgressMode,
    write_to_stdout,
)
from beam_bleu.transforms.definition.flags import (
    SEE_HELP,
    Flag,
    filled,
    flag,
    flags_of,
    unknown_value,
)
from beam_bleu.transforms.errors import UsageError


class Parser(argparse.ArgumentParser):
    def __init__(self, remedy: str = SEE_HELP, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, **keywords)
        self._remedy = remedy

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self._remedy)

    def by_flag(self) -> Mapping[str, argparse.Action]:
        return self._option_string_actions

    def actions(self) -> list[argparse.Action]:
        return list(self._actions)

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        # Even without abbreviations, argparse would take -to for -tok; -bw2 must be -b and -w2.
        # -input is a mistake for --input, not -i nput; -lcv may mean -lc -v, so it is not -l cv.
        found: list[Any] = super()._get_option_tuples(option_string)
        is_long = f"-{option_string}".partition("=")[0] in self._option_string_actions
        longer = [flag for flag in self._option_string_actions if flag[1:2] != "-" and flag[2:]]
        if is_long or option_string.startswith(tuple(longer)):
            return []
        return [row for row in found if option_string.startswith(row[1])]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.option_strings and action.choices is not None and value not in action.choices:
            raise unknown_value(action.option_strings[-1], str(value), map(str, action.choices))

    def _print_message(self, message: str, file: Any = None) -> None:
        # For --help and --version. argparse itself would not notice that a disk is full.
        write_to_stdout(message.encode())


def add_flags(group: argparse._ActionsContainer, flags: Iterable[Flag]) -> None:
    """Adds flags to a parser. A flag without spellings is a positional argument."""
    for row in flags:
        # argparse fills in values after a single %.
        shown: dict[str, Any] = {"help": row.described.replace("%", "%%")}
        if row.metavar or row.action is not None:
            shown["metavar"] = row.metavar
        if row.is_shown_only:
            action = argparse.Action(row.words, row.name, nargs=row.nargs, **shown)
            group._group_actions.append(action)  # type: ignore[attr-defined]
            continue
        if not row.words:
            group.add_argument(row.name, nargs=row.nargs, **shown)
            continue
        kind: dict[str, Any]
        if row.action is not None:
            kind = {"action": row.action, "nargs": row.nargs if row.metavar else 0}
        elif not row.metavar:
            kind = {"action": "store_true" if isinstance(row.default, bool) else "count"}
            kind |= {"default": row.default}
        else:
            many = "extend" if row.split or row.nargs else "append"
            kind = {"action": many if row.is_many else "store", "type": row.read}
            kind |= {"default": [] if row.is_many else row.default}
            kind |= {"nargs": row.nargs, "const": row.const} if row.nargs else {}
        group.add_argument(*row.words, dest=row.name, **kind, **shown)


def format_flag(*choices: str) -> Flag:
    *names, last = choices
    shown = f"what stdout shows: {', '.join(names)} or {last}"
    return Flag("format", shown, "NAME", ("-f", "--format"), choices[0], choices=choices)


def with_underscores(argv: Sequence[str], known: Container[str] = ()) -> list[str]:
    """The words with hyphens in flags replaced by underscores, except in flags that are `known`."""
    words = []
    for word in argv:
        flag, equals, value = word.partition("=")
        if word.startswith("--") and len(word) > 2 and flag not in known:
            word = "--" + flag[2:].replace("-", "_") + equals + value
        words.append(word)
    return words


@dataclasses.dataclass(frozen=True)
class LogFlags:
    log_format: LogFormatName = flag("text", "the format of stderr", "NAME", choices=LOG_FORMATS)
    quiet: bool = flag(False, "show only errors on stderr", "", "-q")
    verbose: int = flag(
        0,
        "show on stderr what the job does, and tracebacks; twice (-vv): also libraries' logs",
        "",
        "-v",
    )


@dataclasses.dataclass(frozen=True)
class ProgressFlag:
    progress: ProgressMode = flag(
        "auto", "what stderr shows while the job runs", "WHEN", choices=PROGRESS_MODES
    )


def logs(argv: Sequence[str]) -> LogFlags:
    """The flags for stderr in a command line, which may be wrong otherwise. Never raises."""
    words = with_underscores(argv[: argv.index("--")] if "--" in argv else argv)
    parser = Parser(add_help=False)
    add_flags(parser, flags_of(LogFlags))
    try:
        return filled(LogFlags, vars(parser.parse_known_args(words)[0]))
    except UsageError:
        return LogFlags()


_NEEDED = (
    ("resamples seed", "resample"),
    (
        "labels label_from_path",
        "slice_by language_column documents keep segment_scores examples report",
    ),
    ("max_rejected", "on_bad_record=reject"),
    ("max_slices", "slice_by language_column"),
    ("segment_smooth_method segment_smooth_value", "segment_scores examples report diversity"),
    ("keep", "segment_scores examples report"),
    ("max_drop", "against"),
    ("against drop", "max_drop"),
    ("system_column", "id_column"),
    ("id_column", "system_column"),
    ("candidate_columns reference_columns where header no_header", "input join_on"),
    ("input_format system_column", "input join_on"),
    ("segment_scores examples confusions save_totals report on_bad_record=reject", "output"),
    ("if_exists metrics_label metrics_slices lineage", "output"),
    ("length_edges", "slice_by"),
)
"""Flags, and others: each of the first needs at least one of the others."""

_CONTRADICTIONS = (
    (
        "language tokenize preset score_only compare_presets diversity",
        "language_column",
        "because each language has a tokenizer and a score of its own",
    ),
    (
        "resample",
        "language_column coverage=each",
        "because replicates are of the whole corpus and of all systems",
    ),
    ("metrics", "metrics_by", "which names the metrics of each task"),
    (
        "metrics_by",
        "language_column compare_presets resample score_only examples confusions diversity",
        "because a metric can be of only some segments",
    ),
    ("max_drop", "no_uncertainty", "which leaves out the standard errors that it needs"),
    ("score_only", "compare_presets", "because it shows only one score of each system"),
    ("systems", "candidates", "because both name systems"),
    ("refs", "candidates references", "because a pattern without quotes makes such words"),
    (
        "refs systems candidates references join_on",
        "input",
        "whose records have candidates and references; name their columns by --candidate_columns "
        "and --reference_columns, or leave out --input",
    ),
    ("system_column", "join_on", "with which each file has one system"),
    ("header", "no_header", "because only one can be true"),
    ("quiet", "verbose progress=on", "because only one can be true"),
    ("cuts num_refs encoding labels", "input join_on", "because it is for line-parallel text"),
)
"""Flags, others with which none of them can be used, and why."""


def check_rules(flags: object, *, hidden: Container[str] = ()) -> None:
    """Raises a UsageError, which does not propose a hidden flag."""
    for group, others, why in _CONTRADICTIONS:
        for name, other in itertools.product(group.split(), others.split()):
            if _is_given(flags, name) and _is_given(flags, other):
                raise UsageError(
                    f"{_shown(flags, name)} cannot be used with {_shown(flags, other)}, {why}",
                    "leave one of them out",
                )
    for dependent, needed in _NEEDED:
        for name in dependent.split():
            if _is_given(flags, name) and not any(
                _is_given(flags, other) for other in needed.split()
            ):
                visible = (other for other in needed.split() if other not in hidden)
                shown = " or ".join(_shown(flags, other) for other in visible)
                raise UsageError(
                    f"{_shown(flags, name)} needs {shown}", "give both flags, or leave both out"
                )


def _shown(flags: Any, name: str) -> str:
    if name == "refs":
        return f"the reference {flags.refs[0]}"
    return "-i" if name == "systems" else f"--{name.replace('=', ' ')}"


def _is_given(flags: Any, name: str) -> bool:
    """Whether a flag NAME is not at its default, or a flag NAME=VALUE has this value."""
    name, _, value = name.partition("=")
    present = getattr(flags, name, None)
    if value:
        return bool(present == value)
    if name in getattr(flags, "choices", ()):
        return True
    return present is not None and present != getattr(type(flags), name)
