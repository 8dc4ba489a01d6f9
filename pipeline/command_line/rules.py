"""Flags that need each other, and flags that contradict each other."""

from __future__ import annotations

import itertools
from typing import Any

from beam_bleu.transforms.errors import UsageError

_NEEDED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("resamples", "seed"), ("resample",)),
    (
        ("labels", "label_from_path"),
        (
            *("slice_by", "language_column", "documents"),
            *("keep", "segment_scores", "examples", "report"),
        ),
    ),
    (("max_rejected",), ("on_bad_record reject",)),
    (("max_slices",), ("slice_by", "language_column")),
    (
        ("segment_smooth_method", "segment_smooth_value", "keep"),
        ("segment_scores", "examples", "report"),
    ),
    (("max_drop",), ("against",)),
    (("against", "drop"), ("max_drop",)),
    (("system_column",), ("id_column",)),
    (("id_column",), ("system_column",)),
    (
        ("candidate_columns", "reference_columns", "where", "header", "no_header"),
        ("input", "join_on"),
    ),
    (("input_format", "system_column"), ("input", "join_on")),
    (("segment_scores", "examples", "save_totals", "report", "on_bad_record reject"), ("output",)),
    (("if_exists", "metrics_label", "metrics_slices", "lineage"), ("output",)),
    (("length_edges",), ("slice_by",)),
)
"""Flags, and those of which each of them needs one."""

_CONTRADICTIONS: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("language", "tokenize", "preset", "score_only", "compare_presets"),
        ("language_column",),
        "because each language has a tokenizer and a score of its own",
    ),
    (
        ("resample",),
        ("language_column", "coverage each"),
        "because replicates are of the whole corpus and of all systems",
    ),
    (("max_drop",), ("no_uncertainty",), "which leaves out the standard errors that it needs"),
    (("score_only",), ("compare_presets",), "because it shows only one score of each system"),
    (("systems",), ("candidates",), "because both name systems"),
    (("refs",), ("candidates", "references"), "because a pattern without quotes makes such words"),
    (
        ("refs", "systems", "candidates", "references", "join_on"),
        ("input",),
        "whose records have candidates and references; name their columns by --candidate_columns "
        "and --reference_columns, or leave out --input",
    ),
    (("system_column",), ("join_on",), "with which each file has one system"),
    (("header",), ("no_header",), "because only one can be true"),
    (("quiet",), ("verbose", "progress on"), "because only one can be true"),
    (
        ("cuts", "num_refs", "encoding", "labels"),
        ("input", "join_on"),
        "because it is for line-parallel text",
    ),
)
"""Flags, others that none of them can be used with, and why."""


def check_rules(flags: object) -> None:
    """Checks that each flag of a class has those that it needs, and none that contradicts it."""
    for group, others, why in _CONTRADICTIONS:
        for flag, other in itertools.product(group, others):
            if _is_given(flags, flag) and _is_given(flags, other):
                raise UsageError(
                    f"{_shown(flags, flag)} cannot be used with {_shown(flags, other)}, {why}",
                    "leave one of them out",
                )
    for dependent, needed in _NEEDED:
        for flag in dependent:
            if _is_given(flags, flag) and not any(_is_given(flags, other) for other in needed):
                shown = " or ".join(_shown(flags, other) for other in needed)
                raise UsageError(
                    f"{_shown(flags, flag)} needs {shown}", "give both flags, or leave both out"
                )


def _shown(flags: Any, flag: str) -> str:
    if flag == "refs":
        return f"the reference {flags.refs[0]}"
    return "-i" if flag == "systems" else f"--{flag}"


def _is_given(flags: Any, flag: str) -> bool:
    """Whether a flag has another value than without it, or the value that is named."""
    name, _, value = flag.partition(" ")
    if value or name in getattr(flags, "choices", ()):
        return not value or getattr(flags, name, None) == value
    present = getattr(flags, name, None)
    return present is not None and present != getattr(type(flags), name)
