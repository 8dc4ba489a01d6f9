"""--layout: known layouts of files, each of which sets the input flags that the user did not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from beam_bleu.pipeline.command_line.definition_flags import language_code
from beam_bleu.pipeline.command_line.source_flags import needed_labels
from beam_bleu.pipeline.folder.paths import checked_path
from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.definition.flags import flag
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.pairing.files.found_files import find_files
from beam_bleu.transforms.pairing.files.path_labels import PathLabel
from beam_bleu.transforms.pairing.files.streams import (
    Stream,
    compression,
    in_order,
    is_pattern,
    name_and_pattern,
)
from beam_bleu.transforms.pairing.records.formats import format_of_name
from beam_bleu.transforms.pairing.records.wanted import ColumnPath, Condition

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

Settings = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layout of a known corpus, or of the files that a known program writes.

    `settings` returns further settings, or raises a `UsageError` about a flag that it needs. With
    `has_tasks`, files are named after their tasks, which have no common score.
    """

    name: str
    columns: Settings = dataclasses.field(default_factory=dict)
    id_column: str = ""
    settings: Callable[[Config], Settings] = lambda _: {}
    has_tasks: bool = False


_TASK_IN_NAME = PathLabel(
    "task",
    "NAME_(*)_TIME.SUFFIX",
    r"(?:^|/)(?:(?:\d{8}_\d{6}_)?samples_|details_)?([^/]+?)(?:_\d{4}-\d\d-\d\d(?:T[^/_]*)?)?"
    r"(?:\.(?:jsonl|ndjson|json|parquet|csv|tsv))?(?:\.(?:gz|bz2|zst|xz))?$",
    has_one_file=True,
)
"""TASK in samples_TASK_TIME.jsonl and details_TASK_TIME.parquet; else the name of the file."""


def with_layout(flags: Config) -> Config:
    if flags.layout is None:
        return flags
    layout = LAYOUTS[flags.layout]
    settings = {**_of_records(flags, layout), **layout.settings(flags)}
    if flags.metrics_by:
        settings.pop("metrics", None)
    _check_references(flags, settings)
    filtered_columns = [condition.column.text for condition in flags.where]
    where = [each for each in settings.pop("where", ()) if each.column.text not in filtered_columns]
    changed: dict[str, Any] = {
        # Files often have only one value, so it is no mistake if a condition excludes no record.
        "where": tuple(
            dataclasses.replace(condition, can_hold_always=not condition.negated)
            for condition in (*flags.where, *where)
        )
    }
    if layout.has_tasks:
        task = _TASK_IN_NAME.name
        if task not in [label.name for label in flags.label_from_path]:
            changed["label_from_path"] = (*flags.label_from_path, _TASK_IN_NAME)
        changed["slice_by"] = tuple(dict.fromkeys([*flags.slice_by, (task,)]))
    if "input" in settings:
        changed["input"] = settings.pop("input")
    own = {field.name for field in dataclasses.fields(flags)}
    changed |= {name: getattr(flags, name) or settings[name] for name in settings.keys() & own}
    of_metrics = {name: value for name, value in settings.items() if name not in own}
    return dataclasses.replace(flags, choices={**of_metrics, **flags.choices}, **changed)


def _check_references(flags: Config, settings: Settings) -> None:
    """Refuses REF if metrics are of numbers, unless labels can be in it."""
    references = flags.references or flags.refs
    words = flags.metrics or settings.get("metrics", flags.chosen_metrics)
    has_labels = "join_on" in settings and _needed_labels(flags)
    if references and not has_labels and not any(row_of(word).counts_texts for word in words):
        raise UsageError(
            f"--layout {flags.layout}: {joined(references)} would not be scored, because no metric "
            "reads references",
            f"name it as a system: -i {' '.join((*references, *flags.systems))}",
        )


def unpooled_label(flags: Config) -> str | None:
    """The label (the task) whose values have no common score; None if the layout has none."""
    if flags.layout is None or not LAYOUTS[flags.layout].has_tasks or flags.pool_tasks:
        return None
    patterns = [flags.input, *flags.references, *flags.refs]
    if any(pattern is not None and is_pattern(pattern) for pattern in patterns):
        for flag in ("score_only", "compare_presets", "resample"):
            if getattr(flags, flag):
                raise UsageError(
                    f"--{flag} needs a score of the whole corpus, but the files of --layout "
                    f"{flags.layout} can be of several tasks, which have no common score",
                    "name the file of one task; or add --pool_tasks to score all tasks together",
                )
    return _TASK_IN_NAME.name


def _of_records(flags: Config, layout: Layout) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    systems = [*flags.systems, *flags.candidates]
    if any(row_of(word).counts_texts for word in flags.chosen_metrics):
        settings |= layout.columns
    if flags.input is None and layout.id_column:
        settings["join_on"] = (layout.id_column,)
        if systems and layout.columns and not (flags.references or flags.refs):
            # The references are in the samples of the first system. A pattern would make each file
            # a system, except the first: as the file of the references, it would not be scored.
            words = [name_and_pattern(word) for word in systems]
            if any(name is None and is_pattern(path) for name, path in words):
                _missing(flags, "the names of the systems", "write -i NAME=FILE for each of them")
            settings["references"] = (words[0][1],)
    return settings


def _mt_metrics_eval(flags: Config) -> Settings:
    folder, pair = flags.input, flags.language
    if folder is None:
        _missing(flags, "--input DIR", "name the folder of a test set, such as wmt23")
    if pair is None:
        _missing(flags, "--language SOURCE-TARGET", "name the pair of languages, such as en-de")
    references = flags.references or flags.refs
    if not references:
        files = _found(f"{folder}/references/{pair}.*.txt")
        references = tuple(
            path for path in files if len(files) == 1 or _name(path) == f"{pair}.refA"
        )
        if not references:
            raise UsageError(
                f"there are several references, and none of them is called refA: {joined(files)}",
                f"name those to use: --references {files[0]}",
            )
    names = [_name(path).removeprefix(f"{pair}.") for path in references]
    files = _found(f"{folder}/system-outputs/{pair}/*.txt")
    outputs = tuple(path for path in files if _name(path) not in names)
    if not outputs:
        raise InputError(
            f"--layout {flags.layout}: {folder}/system-outputs/{pair} has only the references",
            "check that the outputs of systems are there",
        )
    labels = (("domain", "document"), f"{folder}/documents/{pair}.docs")
    return {
        "input": None,  # the files of the folder are line-parallel text
        "references": () if flags.refs else references,
        "systems": () if flags.candidates else outputs,
        "labels": (labels,) if {"domain", "document"} & _needed_labels(flags) else (),
    }


def _wmt25(flags: Config) -> Settings:
    code = _value_of(flags, "tgt_lang")
    if code is None and flags.language_column is None:
        _missing(
            flags,
            "--where tgt_lang=CODE",
            "the files contain all languages: write --where tgt_lang=de_DE for German; or "
            "--language_column tgt_lang",
        )
    return _language(flags, code)


def _wmt24pp(flags: Config) -> Settings:
    code = _value_of(flags, "lp")
    if code is None and not _has_tokenizer(flags):
        _missing(
            flags,
            "--language CODE",
            "name the language of the file, such as de_DE or en-de_DE; or, for files of several "
            "languages, write --language_column lp",
        )
    return {**_language(flags, code), "where": [_is("is_bad_source", "false")]}


def _lm_eval(flags: Config) -> Settings:
    settings: dict[str, Any] = {}
    words = {*flags.chosen_metrics}
    # If the user names the column of the log-probabilities, the samples do not have the columns
    # from which the harness computes its own perplexities.
    if "perplexity" in words and "logprob_column" not in flags.choices:
        settings |= {"logprob_column": "word_perplexity[0]", "perplexity_per": "word"}
        if "text_column" not in flags.choices:
            settings |= {
                "word_count_column": "word_perplexity[1]",
                "byte_count_column": "byte_perplexity[1]",
            }
    if words == {"perplexity"}:
        settings["where"] = [_is("filter", "none")]  # tasks for perplexity have no other filter
    elif not any(condition.column.text == "filter" for condition in flags.where):
        _missing(
            flags,
            "--where filter=NAME",
            "each sample appears once for each filter of its task, whose name is in its field "
            "filter: keep one by filter=NAME, or leave out the others by filter!=NAME",
        )
    return settings


def _hf_translation(flags: Config) -> Settings:
    if flags.reference_columns:
        return {}
    if flags.language is None:
        _missing(flags, "--language CODE", "name that of the references, such as fr or en-fr")
    return {"reference_columns": (f"translation.{flags.language.rpartition('-')[2]}",)}


def _opus(flags: Config) -> Settings:
    references = flags.references or flags.refs
    if not references or "label" not in _needed_labels(flags):
        return {}
    suffix = compression(references[0]) or ""
    return {"labels": ((("label",), f"{references[0].removesuffix(suffix)}.labels{suffix}"),)}


def _comet(flags: Config) -> Settings:
    paths = [flags.input] if flags.input else [*flags.systems, *flags.candidates]
    settings: dict[str, Any] = {"metrics": ("mean:COMET",)}
    if not all(map(format_of_name, paths)):
        settings["input_format"] = "comet"
    if flags.input is not None:
        settings |= {"system_column": "system", "id_column": ("segment",)}
    return settings


LAYOUTS: Mapping[str, Layout] = table(
    Layout("mt-metrics-eval", settings=_mt_metrics_eval),
    Layout(
        "wmt25",
        columns={"candidate_columns": ("hypothesis",), "reference_columns": ("refs.refA.ref",)},
        id_column="doc_id",
        settings=_wmt25,
    ),
    Layout(
        "wmt24pp",
        columns={"reference_columns": ("target",)},
        id_column="segment_id",
        settings=_wmt24pp,
    ),
    Layout(
        "lm-eval",
        columns={"candidate_columns": ("filtered_resps[0]",), "reference_columns": ("target",)},
        id_column="doc_id",
        settings=_lm_eval,
        has_tasks=True,
    ),
    Layout(
        "lighteval",
        columns={
            "candidate_columns": ("model_response.text[0]",),
            "reference_columns": ("doc.choices[0]",),
        },
        id_column="doc.id",
        has_tasks=True,
    ),
    Layout("hf-translation", settings=_hf_translation),
    Layout("opus", settings=_opus),
    Layout("comet", id_column="segment", settings=_comet),
    Layout(
        "squad",
        columns={
            "candidate_columns": ("prediction_text",),
            "reference_columns": ("answers.text",),
        },
        id_column="id",
        settings=lambda _: {"metrics": ("exact_match", "token_f1")},
    ),
    Layout(
        "lmms-eval",
        columns={"candidate_columns": ("filtered_resps",), "reference_columns": ("target",)},
        id_column="doc_id",
        has_tasks=True,
    ),
    Layout(
        "swe-bench",
        settings=lambda _: {"input_format": "swe-bench", "metrics": ("mean:resolved",)},
    ),
    Layout(
        "livecodebench",
        id_column="question_id",
        settings=lambda _: {"metrics": ("mean:pass@1",)},
    ),
    Layout(
        "evalplus",
        settings=lambda _: {"input_format": "evalplus", "metrics": ("mean:base", "mean:plus")},
    ),
    Layout("kaldi", settings=lambda _: {"input_format": "kaldi"}),
)


@dataclasses.dataclass(frozen=True)
class LayoutFlags:
    layout: str | None = flag(
        None,
        "the layout of a known corpus, which sets the flags of the input that are not given: "
        f"{', '.join(LAYOUTS)}",
        "NAME",
        choices=tuple(LAYOUTS),
    )
    pool_tasks: bool = flag(
        False,
        "with --layout "
        + " or ".join(name for name, row in LAYOUTS.items() if row.has_tasks)
        + ": also score all tasks together, as if they were one corpus",
        shown_default="default: only each task by itself, if there are several",
    )


def _missing(flags: Config, flag: str, remedy: str) -> NoReturn:
    raise UsageError(f"--layout {flags.layout} needs {flag}", remedy)


def _needed_labels(flags: Config) -> set[str]:
    return {*needed_labels(flags), *(label for _, label in flags.kept)}


def _value_of(flags: Config, column: str) -> str | None:
    """The value that --where requires in a column; None if it requires none."""
    values = (each.value for each in flags.where if each.column.text == column and not each.negated)
    return next(values, None)


def _language(flags: Config, code: str | None) -> Settings:
    """Sets --language for all scored records, unless another flag chooses the tokenizer."""
    return {} if code is None or _has_tokenizer(flags) else {"language": language_code(code)}


def _has_tokenizer(flags: Config) -> bool:
    chosen = (flags.language, flags.language_column, flags.choices.get("tokenize"), flags.preset)
    return any(choice is not None for choice in chosen)


def _is(column: str, value: str) -> Condition:
    return Condition(ColumnPath(column, (column,)), value)


def _found(pattern: str) -> list[str]:
    path = checked_path("--input", pattern, anywhere=False)
    paths = [file.path for file in find_files(Stream("--layout", path))]
    if not paths:
        raise InputError(f"--layout: nothing matches {path}", "check the folder and the language")
    return in_order(paths)


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".txt")
