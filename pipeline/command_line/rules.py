"""Flags that need each other, and flags that contradict each other."""

from __future__ import annotations

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
    (
        ("segment_scores", "examples", "save_totals", "report", "on_bad_record reject"),
        ("output",),
    ),
    (("if_exists", "metrics_label", "metrics_slices", "lineage"), ("output",)),
    (("length_edges",), ("slice_by",)),
)
"""Flags, and those of which each of them needs one."""

_OF_RECORDS = "whose records have candidates and references"

_CONTRADICTIONS = (
    ("language", "language_column", "which has the language of each segment"),
    ("tokenize", "language_column", "which chooses the tokenizer of each language"),
    ("preset", "language_column", "because each preset has one tokenizer for all languages"),
    ("score_only", "language_column", "because each language has a score of its own"),
    (
        "compare_presets",
        "language_column",
        "because a preset has one tokenizer, so its scores cannot be compared with those of "
        "several languages",
    ),
    ("resample", "language_column", "because replicates are of the whole corpus"),
    ("resample", "coverage each", "with which systems can have different segments"),
    ("max_drop", "no_uncertainty", "which leaves out the standard errors that it needs"),
    ("score_only", "compare_presets", "because it shows only one score of each system"),
    ("systems", "candidates", "because both name systems"),
    ("refs", "candidates", "because a pattern without quotes makes such words"),
    ("refs", "references", "because a pattern without quotes makes such words"),
    (
        "refs",
        "input",
        f"{_OF_RECORDS}; for line-parallel text write beam-bleu REF... -i FILE...; to join record "
        "files, --join_on without --input",
    ),
    ("systems", "input", _OF_RECORDS),
    ("candidates", "input", _OF_RECORDS),
    ("references", "input", _OF_RECORDS),
    ("join_on", "input", _OF_RECORDS),
    ("system_column", "join_on", "with which each file has one system"),
    ("header", "no_header", ""),
    ("quiet", "verbose", ""),
    ("quiet", "progress on", ""),
    *(
        (flag, records, "because it is for line-parallel text")
        for flag in ("cuts", "num_refs", "encoding", "labels")
        for records in ("input", "join_on")
    ),
)
"""Two flags, of which only one can be given, and why."""


def check_rules(flags: object) -> None:
    """Checks that each flag has those that it needs, and none that contradicts it.

    Args:
      flags: a class of flags, such as `Config`.

    Raises:
      UsageError: one is missing, or two contradict each other.
    """
    for first, second, why in _CONTRADICTIONS:
        if _is_given(flags, first) and _is_given(flags, second):
            cause = f"{_shown(flags, first)} and {_shown(flags, second)} contradict each other"
            if why:
                cause = f"{_shown(flags, first)} cannot be used with {_shown(flags, second)}, {why}"
            raise UsageError(cause, "leave one of them out")
    for dependent, needed in _NEEDED:
        for flag in dependent:
            if _is_given(flags, flag) and not any(_is_given(flags, other) for other in needed):
                others = " or ".join(_shown(flags, other) for other in needed)
                raise UsageError(
                    f"{_shown(flags, flag)} needs {others}", "give both flags, or leave both out"
                )


def _shown(flags: Any, flag: str) -> str:
    """A flag as messages show it; for words without a flag the first of them."""
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
