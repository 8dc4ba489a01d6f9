"""Flags that need each other, and flags that contradict each other."""

from __future__ import annotations

import argparse

from beam_bleu.transforms.errors import UsageError

_NEEDED: dict[str, tuple[str, ...]] = {
    "resamples": ("resample",),
    "seed": ("resample",),
    "length_edges": ("slice_by",),
    "max_slices": ("slice_by", "language_column"),
    "segment_smooth_method": ("segment_scores", "examples"),
    "segment_smooth_value": ("segment_scores", "examples"),
    "segment_scores": ("output",),
    "examples": ("output",),
    "save_totals": ("output",),
}
"""For each flag those of which it needs one."""

_CONTRADICTIONS = (
    ("language", "language_column", "which has the language of each segment"),
    ("tokenize", "language_column", "which chooses the tokenizer of each language"),
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
)
"""Two flags, of which only one can be given, and why."""


def check_rules(flags: argparse.Namespace) -> None:
    """Checks that each flag has those that it needs, and none that contradicts it.

    Raises:
      UsageError: one is missing, or two contradict each other.
    """
    for flag, needed in _NEEDED.items():
        if _is_given(flags, flag) and not any(_is_given(flags, other) for other in needed):
            raise UsageError(
                f"--{flag} needs {' or '.join(f'--{other}' for other in needed)}",
                "give both flags, or leave both out",
            )
    for first, second, why in _CONTRADICTIONS:
        if _is_given(flags, first) and _is_given(flags, second):
            cause = f"--{first} and --{second} contradict each other"
            if why:
                cause = f"--{first} cannot be used with --{second}, {why}"
            raise UsageError(cause, "leave one of them out")


def _is_given(flags: argparse.Namespace, flag: str) -> bool:
    """Whether a flag, or a flag with this value, is given."""
    name, _, value = flag.partition(" ")
    present = getattr(flags, name, None)
    if value:
        return bool(present == value)
    return present is not None and present is not False and present != []
