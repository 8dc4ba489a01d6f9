"""What the keywords of `Evaluate` ask for, parsed and checked by the flags of the command."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

from beam_bleu.pipeline.command_line.metric_flags import needs_of
from beam_bleu.pipeline.command_line.options import job_of, our_parser
from beam_bleu.pipeline.command_line.parser import SEE_HELP
from beam_bleu.pipeline.command_line.record_flags import most_rejected
from beam_bleu.pipeline.command_line.slice_flags import needed_labels
from beam_bleu.pipeline.command_line.token_flags import check_language_flags
from beam_bleu.pipeline.job import Job
from beam_bleu.pipeline.library.keywords import Keywords
from beam_bleu.transforms.chosen_metrics import definition_of, require_readable
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, MetricWord, config_type
from beam_bleu.transforms.pairing.paired import Source

_FLAG = re.compile(r"--([a-z][a-z_]*)")


@dataclasses.dataclass(frozen=True)
class KnownSource:
    """An input as far as a job must know it: the names of what its batches have.

    The attributes are those of a `Source`.
    """

    systems: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    keeps_texts: bool = False
    is_of_lines: bool = False
    inputs: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    def check_visible(self) -> None:
        """Nothing is read from files."""

    def check_readable(self) -> None:
        """Nothing is read from files."""

    def pair(self, *_: Any) -> NoReturn:
        """Nothing is read from files."""
        raise NotImplementedError


class Asked:
    """What keywords ask for, checked as far as this is possible without an input.

    Args:
      keywords: the keywords.
      unpooled: the label whose values have no common score; None if all segments have one.

    Raises:
      ValueError: a keyword is not known, or a value or a combination is impossible.
      InputError: a file that a keyword names cannot be read.
    """

    def __init__(self, keywords: Mapping[str, Any], unpooled: str | None = None) -> None:
        if unpooled is not None and not isinstance(unpooled, str):
            raise ValueError(f"unpooled must be the name of a label, got {unpooled!r}")
        self._unpooled = unpooled
        self._configs: dict[MetricWord, Any] = {}
        with _naming_keywords():
            self._flags = self._parsed(keywords)
            check_language_flags(self._flags)
            self._needs = needs_of(self._flags)
            self.labels = needed_labels(self._flags)
            self._job(self._flags, KnownSource(labels=self.labels))
        self._refuse_flags_of_configs(keywords)
        require_readable(self._needs.values)

    def require_texts_only(self) -> None:
        """Checks that all metrics count texts.

        Raises:
          ValueError: one needs numbers.
        """
        for value in self._needs.values:
            raise ValueError(
                f"a metric needs numbers of the column {value.column}, and tables give only texts: "
                "read records with ReadPairedRecords(..., number_columns=[...])"
            )

    def job(self, source: Source, *, rejects: bool) -> Job:
        """The job for an input.

        Args:
          source: the input.
          rejects: whether bad records are rejected.

        Raises:
          ValueError: the input does not have what is asked for.
        """
        for name in self.labels:
            if name not in source.labels:
                there = ", ".join(source.labels) or "none"
                raise ValueError(
                    f"the input has no label {name!r}; it has {there}: name it in `labels` of the "
                    "transform that reads, or of ArrowColumns"
                )
        flags = argparse.Namespace(**vars(self._flags))
        flags.on_bad_record = "reject" if rejects else "fail"
        flags.coverage = getattr(source, "coverage", None)
        with _naming_keywords():
            job = self._job(flags, source)
            return dataclasses.replace(job, most_rejected=most_rejected(flags))

    def _job(self, flags: argparse.Namespace, source: Source) -> Job:
        return job_of(flags, source, self._needs, unpooled=self._unpooled, configs=self._configs)

    def _parsed(self, keywords: Mapping[str, Any]) -> argparse.Namespace:
        """The keywords as the parser of the command gives them."""
        known = Keywords.__annotations__
        for name in keywords:
            if name not in known:
                names = ", ".join(["columns", "unpooled", *known])
                raise UsageError(
                    f"Evaluate has no keyword {name!r}",
                    f"it has {names}; docs/evaluate.md says what replaces other flags",
                )
        parser = our_parser()
        actions = {action.dest: action for action in parser.actions()}
        words = self._metrics(keywords.get("metrics"))
        for name, value in keywords.items():
            if name != "metrics":
                words += _words(name, value, actions[name])
        flags = parser.parse_args(words)
        flags.output = ""  # What needs a folder has a PCollection.
        if self._unpooled is not None:
            flags.slice_by = list(dict.fromkeys([*flags.slice_by, (self._unpooled,)]))
        return flags

    def _metrics(self, metrics: Any) -> list[str]:
        """The words for metrics, which are names or configs."""
        if metrics is None:
            return []
        if isinstance(metrics, str) or not isinstance(metrics, Sequence) or not metrics:
            raise UsageError(f"metrics must be a list of names and configs, got {metrics!r}", "")
        words = []
        for metric in metrics:
            name = metric
            if not isinstance(metric, str):
                if metric is None:
                    raise UsageError("metrics has None, which is neither a name nor a config", "")
                name = definition_of(metric)[1].name
                self._configs[name] = metric
            words.append(f"--metrics={name}")
        return words

    def _refuse_flags_of_configs(self, keywords: Mapping[str, Any]) -> None:
        """Refuses keywords that define a metric which a config defines."""
        for metric in self._configs:
            names = [flag.name for flag in config_type(metric).flags]
            if metric == DEFAULT_METRIC:
                names += ["preset", "language"]
            for name in names:
                value = keywords.get(name)
                if value is not None and value is not False:  # 0 is a value, although 0 == False
                    raise ValueError(
                        f"{name} has no effect, because the config in metrics defines {metric}; "
                        f"leave one of them out"
                    )


def _words(name: str, value: Any, action: argparse.Action) -> list[str]:
    """The words of a command line for a keyword and its value."""
    flag = f"--{name}"
    if value is None or value is False:
        return []
    if action.nargs == 0 or (value is True and action.nargs == argparse.OPTIONAL):
        if value is not True:
            raise UsageError(f"{flag} must be True or False, got {value!r}", SEE_HELP)
        return [flag]
    if isinstance(action, argparse._AppendAction):
        values = [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
        return [f"{flag}={_text(flag, each)}" for each in values]
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not str(action.metavar).endswith(",..."):
            raise UsageError(f"{flag} must be one value, got {value!r}", SEE_HELP)
        return [f"{flag}={','.join(_text(flag, each) for each in value)}"]
    text = _text(flag, value)
    if action.choices is not None and text not in action.choices:
        choices = ", ".join(map(str, action.choices))
        raise UsageError(f"{flag} {text}: there is no such value", f"choose one of {choices}")
    return [f"{flag}={text}"]


def _text(flag: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{flag} must be a text or a number, got {value!r}", SEE_HELP)
    # Without an exponent, as in 1e-05, which a fraction of records cannot have.
    return f"{Decimal(repr(value)):f}" if isinstance(value, float) else str(value)


@contextlib.contextmanager
def _naming_keywords() -> Iterator[None]:
    """Turns the errors of flags into those of keywords.

    Raises:
      ValueError: in place of a `UsageError`.
      InputError: a file cannot be read.
    """
    try:
        yield
    except UsageError as error:
        remedy = "docs/flags.md has the values" if error.remedy == SEE_HELP else error.remedy
        parts = [_FLAG.sub(r"\1", part) for part in (error.cause, remedy) if part]
        raise ValueError("; ".join(parts)) from None
    except InputError as error:
        raise InputError(
            _FLAG.sub(r"\1", error.cause), _FLAG.sub(r"\1", error.remedy)
        ) from error.__cause__
