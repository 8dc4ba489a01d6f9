"""The keywords of `Evaluate`, checked by the flags of the command."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from beam_bleu.pipeline.command_line.config import FLAGS, GROUPS, Config
from beam_bleu.pipeline.command_line.definition_flags import job_metrics, with_choices
from beam_bleu.pipeline.command_line.options import job_of
from beam_bleu.pipeline.command_line.parser import check_rules
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.transforms.chosen_metrics import configs_by_word, definition_of, require_readable
from beam_bleu.transforms.definition.flags import SEE_HELP, flags_of, nearest
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, config_type

_GROUPS = ("definition", "output, more scores", "slices", "evidence", "gates")
_MORE = ("allow", "max_rejected", "save_totals", "partition")
_OF_FILES = ("keep", "label_from_path", "labels", "report")

KEYWORDS = {
    row.name: row
    for title, rows in GROUPS.items()
    for row in rows
    # The transforms that read do not read log-probabilities.
    if ((title.startswith(_GROUPS) and not title.endswith("of numbers")) or row.name in _MORE)
    and row.name not in _OF_FILES
}

_FLAG = re.compile(rf"--({'|'.join(each.name for each in FLAGS if not each.is_shown_only)})\b")
"""How messages spell a field: here it is a keyword, or an argument of the transform that reads."""


class Asked:
    """What keywords ask for, checked as far as this is possible without an input."""

    def __init__(self, keywords: Mapping[str, Any], unpooled: str | None = None) -> None:
        for name in keywords:
            if name not in KEYWORDS:
                near = nearest(name, KEYWORDS)
                meant = f"did you mean {near}?" if near else "docs/library.md has all of them"
                raise ValueError(f"Evaluate has no keyword {name!r}; {meant}")
        if unpooled is not None and not isinstance(unpooled, str):
            raise ValueError(f"unpooled must be the name of a label, got {unpooled!r}")
        metrics = keywords.get("metrics")
        configs = {} if metrics is None else configs_by_word(metrics)
        with _naming_keywords():
            values = {
                name: KEYWORDS[name].value_of(value)
                for name, value in {**keywords, "metrics": [*configs] or None}.items()
                if value is not None and value is not False
            }
            flags = with_choices(Config, values)
            own = [] if unpooled is None else [(unpooled,)]
            self._flags = dataclasses.replace(
                flags,
                output="",  # what needs a folder has a PCollection
                slice_by=tuple(dict.fromkeys([*flags.slice_by, *own])),
            )
            self.metrics = job_metrics(self._flags, unpooled, configs)
        for word, config in configs.items():
            if config is None:
                continue
            definition_of(config)  # an error if it cannot score a corpus here
            names = {row.name for row in flags_of(config_type(word))}
            names |= {"preset", "language"} if word == DEFAULT_METRIC else set()
            for name in sorted(names & values.keys()):
                raise ValueError(
                    f"{name} has no effect, because the config in metrics defines {word}; leave "
                    "one of them out"
                )
        require_readable(self.metrics.needs)

    def job(self, source: Any, *, rejects: bool = False, describes: bool = False) -> Job:
        documents = self._flags.documents
        if documents is not None and documents not in source.labels:  # here it is never a file
            raise ValueError(f"documents: the input has no label {documents!r}")
        if self._flags.save_totals and self._flags.partition is None and not describes:
            raise ValueError(
                "save_totals needs partition, so that nobody adds up the same totals twice; or "
                "files that are read with describe=True"
            )
        flags = dataclasses.replace(
            self._flags,
            on_bad_record="reject" if rejects else "fail",
            coverage=getattr(source, "coverage", None),
        )
        with _naming_keywords():
            check_rules(flags)
            return job_of(flags, source, self.metrics)


@dataclasses.dataclass(frozen=True)
class TableSource:
    """Tables, as far as a job must know them; the attributes are those of a `Source`."""

    systems: tuple[str, ...]
    labels: tuple[str, ...]
    kept: tuple[str, ...]
    keeps_texts: bool = False
    is_of_lines: bool = False


@contextlib.contextmanager
def _naming_keywords() -> Iterator[None]:
    """Turns the errors of flags into those of keywords."""
    try:
        yield
    except UsageError as error:
        remedy = "docs/flags.md has the values" if error.remedy == SEE_HELP else error.remedy
        parts = [_FLAG.sub(r"\1", part) for part in (error.cause, remedy) if part]
        raise ValueError("; ".join(parts)) from None
