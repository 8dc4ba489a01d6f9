"""Makes metadata.json, the Flex Template's parameters, from the flags of beam-bleu."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from beam_bleu.pipeline.command_line.config import FLAGS
from beam_bleu.pipeline.command_line.flags import Flag
from deploy.dataflow.launch import SEPARATOR

METADATA = pathlib.Path(__file__).parent / "metadata.json"

_LEFT_OUT = {
    # They only print something, or keep it from being printed. The launcher of a template prints
    # only for its log, and ends before the job does anything.
    *("help", "help_beam", "version", "format", "score_only", "width", "progress", "quiet"),
    *("log_format", "runner"),
    *("refs", "systems"),  # other spellings of --references and --candidates
    "encoding",  # it has only one value
    *("metrics_label", "metrics_slices"),  # nobody writes metrics.prom: the launcher ends early
    "lineage",  # nobody would send the last event: the launcher ends early
    "report",  # the launcher would write the page, and it does not wait for the result
    "worker_timeout",  # nobody waits for the workers
}
"""Flags that are no parameters of a template."""

_REQUIRED = {"output"}

# Dataflow checks each value with a POSIX regular expression before it starts anything.
_PATTERN = f"gs://[^{SEPARATOR}]+"
_NAMED = f"([^{SEPARATOR}/=]+=)?{_PATTERN}"
_WHOLE = "[1-9][0-9]*"
_DECIMAL = "[0-9]*[.]?[0-9]+"
_SMALL = f"{_DECIMAL}(e-?[0-9]+)?"

_BY_METAVAR = {
    "[NAME=]PATTERN": ("TEXT", _NAMED),
    "PATTERN": ("TEXT", _PATTERN),
    "PATTERN|NAME": ("TEXT", f"{_PATTERN}|[^{SEPARATOR}/]+"),
    "FILE": ("GCS_READ_FILE", "gs://.+"),
    "DIR": ("GCS_WRITE_FOLDER", "gs://.+"),
    "NAME[,NAME]=PATTERN": ("TEXT", f"[^{SEPARATOR}/=]+={_PATTERN}"),
    "N": ("NUMBER", _WHOLE),
    "N|FRACTION": ("NUMBER", _DECIMAL),
    "N,N,...": ("TEXT", f"{_WHOLE}(,{_WHOLE})*"),
    "VALUE": ("NUMBER", _SMALL),
    "W,W,...": ("TEXT", f"{_DECIMAL}(,{_DECIMAL})*"),
}
"""A parameter's kind and its regular expression, by the name of the value in --help."""

_IMAGE = {
    "name": "sdk_container_image",
    "label": "Image of the workers",
    "helpText": "The image of this template. It contains beam-bleu for the workers.",
    "isOptional": False,
    "paramType": "TEXT",
    "regexes": ["^[^ ]+$"],
}
"""One of Beam's flags. It is declared because Dataflow refuses all other parameters. Without it
the workers would run Beam's own image, which does not contain beam-bleu."""


def made() -> dict[pathlib.Path, str]:
    """The content of metadata.json, by its path."""
    return {METADATA: json.dumps(_metadata(), indent=2, ensure_ascii=False) + "\n"}


def _metadata() -> dict[str, Any]:
    flags = [flag for flag in FLAGS if flag.name not in _LEFT_OUT]
    return {
        "name": "beam-bleu",
        "description": "Scores line-parallel text and records by BLEU and other metrics, "
        "with sacreBLEU's exact numbers.",
        "streaming": False,
        "parameters": [*(_parameter(flag) for flag in flags), _IMAGE],
    }


def _parameter(flag: Flag) -> dict[str, Any]:
    help_text = flag.described()
    if flag.is_many:  # a flag is repeated, a parameter is not
        help_text = f"{help_text.partition('; repeat')[0]}; separate several with {SEPARATOR}"
    parameter: dict[str, Any] = {
        "name": flag.name,
        "label": flag.name.replace("_", " ").capitalize(),
        "helpText": help_text,
        "isOptional": flag.name not in _REQUIRED,
    }
    if not flag.metavar:
        kind, regex = "BOOLEAN", "true|false"
    elif flag.const is not None:
        # The flag without a value is the parameter "true", and no flag is "false".
        kind, regex = "TEXT", "|".join(["true", "false", *flag.choices])
        parameter["helpText"] = f"{help_text}; one of {regex.replace('|', ', ')}"
    elif flag.choices and not flag.is_many:
        kind, regex = "ENUM", "|".join(flag.choices)
        parameter["enumOptions"] = [{"value": choice, "label": choice} for choice in flag.choices]
    else:
        kind, regex = _BY_METAVAR.get(flag.metavar, ("TEXT", ".+"))
    parameter["paramType"] = kind
    if flag.is_many:
        regex = f"{regex}( *{SEPARATOR} *{regex})*"
    parameter["regexes"] = [f"^({regex})$"]
    if flag.default is not None and not flag.is_many:
        is_on = json.dumps(bool(flag.default))
        parameter["defaultValue"] = is_on if kind == "BOOLEAN" else str(flag.default)
    return parameter
