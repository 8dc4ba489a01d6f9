"""Flags that define scores (metrics, presets, languages) or add some (--segment_scores, --keep)."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from beam_bleu.pipeline.command_line.source_flags import columns
from beam_bleu.pipeline.display.table import Table, as_text
from beam_bleu.pipeline.errors.terminal import write_to_stdout
from beam_bleu.pipeline.scoring.job import JobMetrics, Scorings
from beam_bleu.transforms.definition.choices import can_be_shown
from beam_bleu.transforms.definition.flags import (
    SEE_HELP,
    Flag,
    filled,
    flag,
    flags_of,
    nearest,
    whole_number,
)
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.examples.example import MOST_EXAMPLES
from beam_bleu.transforms.known_metrics import (
    DEFAULT_METRIC,
    METRIC_WORDS,
    METRICS,
    Definition,
    MetricWord,
    config_type,
    is_metric,
    metric_type,
    parameter_of,
    row_of,
)
from beam_bleu.transforms.metrics.bleu.formula import SMOOTH_METHODS, SmoothMethodName
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import (
    COMPARISONS,
    DEFAULT_COMPARISON,
    DEFAULT_PRESET,
    PRESETS,
    ComparisonName,
    PresetName,
    preset,
)
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.pairing.records.wanted import KEPT_TEXTS
from beam_bleu.transforms.text.library_tokenizers import read_model, require_library
from beam_bleu.transforms.text.text import CASES, NormalizationName, Text, TextName
from beam_bleu.transforms.text.tokenizers import (
    EXAMPLES_OF_CODES,
    LANGUAGES,
    OTHER_LANGUAGES,
    tokenizer_of,
)

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

_LANGUAGES = ", ".join(f"{row.name}: {row.tokenize}" for row in LANGUAGES.values())

_OF_DEFAULT_METRIC = (
    *("preset", "compare_presets", "segment_smooth_method", "segment_smooth_value", "diversity"),
)
"""The flags for the default metric that are not fields of its definition."""

_Flags = TypeVar("_Flags", bound="DefinitionFlags")


_OF_NUMBERS = (
    "its own program scores the segments: write these numbers into a column of records, such as "
    "score, and average them: --input FILE.jsonl -m {}:score"
)
_INSTEAD = {
    "chrf++": "write -m chrf -cw 2",
    "spbleu": "write -m bleu -tok spm --spm_model FILE",
    **dict.fromkeys(("comet", "bleurt", "bertscore", "bartscore"), _OF_NUMBERS.format("mean")),
    "metricx": _OF_NUMBERS.format("mean_error"),
}
"""What to do for metrics that are not words of ours, by what their names contain."""


def _metric(text: str) -> str:
    if not is_metric(text):
        name = re.sub("[^a-z+]", "", text.lower())
        near = nearest(text, METRIC_WORDS)
        remedy = next(
            (remedy for part, remedy in _INSTEAD.items() if part in name),
            (f"did you mean {near}? " if near else "")
            + f"choose from {', '.join(METRIC_WORDS)}, with spaces between them; "
            "references come before -m",
        )
        raise UsageError(f"--metrics {text}: there is no such metric", remedy)
    return text


def _metrics_of_tasks(text: str) -> tuple[str, tuple[MetricWord, ...]]:
    """(PATTERN, metrics) of a value of --metrics_by."""
    pattern, _, words = text.rpartition("=")
    names = tuple(words.split())
    if not (pattern and names and all(map(is_metric, names)) and len({*names}) == len(names)):
        raise ValueError(
            "must be PATTERN=METRIC, or 'PATTERN=METRIC METRIC' in quotes, with different metrics "
            f"of {', '.join(METRIC_WORDS)}, got {text!r}"
        )
    return pattern, names


def language_code(text: str) -> str:
    try:
        tokenizer_of(text)
    except ValueError as error:
        raise UsageError(f"--language {text}: {error}", f"write {EXAMPLES_OF_CODES}") from None
    return text


class _Preset(argparse.Action):
    """Keeps the name of a preset. `list` prints all presets and ends the program, like --help."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        text: Any,
        option_string: str | None = None,
    ) -> None:
        if text == "list":
            write_to_stdout(presets_table().encode())
            parser.exit()
        setattr(namespace, self.dest, PRESET.read(text))


@dataclasses.dataclass(frozen=True)
class DefinitionFlags:
    """The flags that define the scores; `choices` has the values of the metrics' own flags."""

    metrics: tuple[MetricWord, ...] = flag(
        (),
        "the metrics, in the order of the result: "
        + ", ".join(f"{row.word} ({row.description})" for row in METRICS.values()),
        "NAME",
        "-m",
        convert=_metric,
        nargs="+",
        shown_default=f"default {DEFAULT_METRIC}",
    )
    metrics_by: tuple[tuple[str, tuple[MetricWord, ...]], ...] = flag(
        (),
        "the metrics of each task, if --layout says that there are tasks: of the patterns that "
        "match its name, the first one counts, such as 'mgsm*=exact_match' 'xlsum*=rougeL chrf'",
        "PATTERN=METRIC",
        convert=_metrics_of_tasks,
        nargs="+",
    )
    preset: PresetName | None = flag(
        None,
        "the BLEU of a tool or paper; other flags change it; `--preset list` shows all presets",
        "NAME",
        choices=tuple(PRESETS),
        action=_Preset,
        shown_default=f"default {DEFAULT_PRESET}",
    )
    language: str | None = flag(
        None,
        "the language of the texts, or a pair such as en-de, of which the target counts; it "
        f"chooses the tokenizer ({_LANGUAGES}, others: {OTHER_LANGUAGES})",
        "CODE",
        words=("-l", "--language_pair", "--language"),
        convert=language_code,
    )
    language_column: str | None = flag(
        None,
        "the column, or the label, with the language of each segment: each language is scored with "
        "its tokenizer, and the mean of their scores is shown",
        "NAME",
    )
    choices: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def chosen_metrics(self) -> tuple[MetricWord, ...]:
        of_tasks = dict.fromkeys(name for names in self.by_task.values() for name in names)
        names = self.metrics or tuple(of_tasks) or (DEFAULT_METRIC,)
        if len({*names}) < len(names):
            raise UsageError(
                f"--metrics {' '.join(names)} has a metric twice", "name each metric only once"
            )
        return names

    @property
    def by_task(self) -> dict[str, tuple[MetricWord, ...]]:
        by_task = dict(self.metrics_by)
        if len(by_task) < len(self.metrics_by):
            raise UsageError(
                "--metrics_by has a pattern twice", "write all metrics of a pattern after one ="
            )
        return by_task

    def choices_of(self, name: MetricWord) -> dict[Flag, Any]:
        chosen: dict[Flag, Any] = {}
        for row in metric_flags([name]):
            if row.name in self.choices:
                for other in chosen:
                    if other.field == row.field:
                        raise UsageError(
                            f"--{other.name} and --{row.name} contradict each other",
                            "give only one",
                        )
                chosen[row] = self.choices[row.name] if row.metavar else row.value
        return chosen


METRICS_FLAG, METRICS_BY, PRESET, *LANGUAGE_FLAGS = flags_of(DefinitionFlags)


def with_choices(kind: type[_Flags], values: Mapping[str, Any]) -> _Flags:
    typed = {row.name: values.get(row.name) for row in metric_flags()}
    return dataclasses.replace(
        filled(kind, values),
        # Not `if v`, because 0 is a value.
        choices={name: v for name, v in typed.items() if v is not None and v is not False},
    )


def metric_flags(
    metrics: Iterable[MetricWord] = METRICS, *, besides: Iterable[MetricWord] = ()
) -> tuple[Flag, ...]:
    """The flags of metrics, metric by metric, each flag once, without those of `besides`."""
    names = {row.name for name in besides for row in flags_of(config_type(name))}
    flags = {row.name: row for name in metrics for row in flags_of(config_type(name))}
    return tuple(row for name, row in flags.items() if name not in names)


def usual_flags(*, of_text: bool) -> tuple[Flag, ...]:
    """The flags of the default metric that choose tokens (`of_text`), or those of its formula."""
    definition = config_type(DEFAULT_METRIC)
    texts = definition.text_fields()
    return tuple(row for row in flags_of(definition) if (row.field in texts) == of_text)


def config_of(
    name: MetricWord, flags: DefinitionFlags, normalize: NormalizationName | None = None
) -> Any:
    definition = config_type(name)
    fields = {"normalize": normalize} if "normalize" in definition.text_fields() else {}
    fields |= {row.field: value for row, value in flags.choices_of(name).items()}
    try:
        config = definition(**fields, **parameter_of(name))
    except ValueError as error:
        raise impossible(name, error) from None
    require_library(config.text)
    return config


def impossible(name: MetricWord, error: ValueError) -> UsageError:
    return UsageError(f"--metrics {name}: {error}", SEE_HELP)


def refuse_flags_of_other_metrics(flags: DefinitionFlags, chosen: Collection[MetricWord]) -> None:
    if flags.language is not None and not any(row_of(name).counts_texts for name in chosen):
        raise UsageError(
            f"--language is about texts, and --metrics {' '.join(chosen)} reads numbers",
            "leave it out, or ask for a metric of texts, too",
        )
    own = {row.name for row in metric_flags(chosen)}
    names = [name for name in flags.choices if name not in own]
    if DEFAULT_METRIC not in chosen:
        names += [
            name for name in _OF_DEFAULT_METRIC if getattr(flags, name, None) not in (None, False)
        ]
    finding = [word for word in METRICS if metric_type(word).finds_confusions]
    if getattr(flags, "confusions", 0) and not {*finding} & {*chosen}:
        names.append("confusions")
    for name in names:
        of = [word for word in METRICS if name in {row.name for row in metric_flags([word])}]
        metrics = of or (finding if name == "confusions" else [DEFAULT_METRIC])
        raise UsageError(
            f"--{name} is a flag of {joined(metrics, len(metrics))}, and only "
            f"{', '.join(chosen)} is scored",
            f"leave it out, or score by the metric, too: --metrics {' '.join(chosen)} {metrics[0]}",
        )


def presets_table() -> str:
    chosen = ("tokenize", "case", "reference_length", "N", "weights", "smoothing")
    rows = []
    for name, row in PRESETS.items():
        config = preset(name)
        choices = (
            config.tokenize,
            CASES[config.lowercase].shown,
            config.reference_length,
            f"{config.max_ngram_order}{' or fewer' if config.effective_order else ''}",
            ",".join(f"{weight:g}" for weight in config.weights or ()) or "1/N",
            config.smooth_method,
        )
        rows.append((name, *choices, row.source.replace("`", "")))
    return as_text(Table((), ("preset", *chosen, "equals"), rows))


_EXAMPLES_OF_REPORT = 20
"""How many examples of each kind a run picks for a report, unless the user chooses a number."""


_MOST_CONFUSIONS = 10_000

_NAMED = re.compile(r"([^=\[]+)=(.+)", re.DOTALL)


def _kept(text: str) -> tuple[str, str]:
    """(NAME, COLUMN) of an item of --keep; NAME is "" if it has none."""
    named = _NAMED.fullmatch(text)
    name, column = (named[1], named[2]) if named else ("", text)
    if not can_be_shown(name or column) or text.startswith("="):
        raise ValueError(f"must be [NAME=]COLUMN,..., with printable names, got {text!r}")
    return name, column


@dataclasses.dataclass(frozen=True)
class MoreScoresFlags:
    compare_presets: ComparisonName | None = flag(
        None,
        "also score by each preset that has the same tokenizer and case (same; also without a "
        "value), or by every preset (all); other flags do not change them",
        f"[{'|'.join(COMPARISONS)}]",
        choices=tuple(COMPARISONS),
        nargs="?",
        const=DEFAULT_COMPARISON,
    )
    segment_scores: bool = flag(
        False, "also write the score of each segment, as Parquet files in DIR/segment_scores/"
    )
    examples: int = flag(
        0,
        "also write DIR/examples.jsonl: of each system and metric the N best, worst and random "
        f"segments, and those with the largest gains and losses; at most {MOST_EXAMPLES}",
        "N",
        convert=whole_number(0, MOST_EXAMPLES),
    )
    confusions: int = flag(
        0,
        "also write DIR/confusions.jsonl: of each system the N most frequent substitutions, "
        f"deletions and insertions that wer or cer counts; at most {_MOST_CONFUSIONS}",
        "N",
        convert=whole_number(0, _MOST_CONFUSIONS),
    )
    diversity: bool = flag(
        False, "also show how varied the outputs of each system are: distinct-n and self-BLEU"
    )
    segment_smooth_method: SmoothMethodName | None = flag(
        None,
        "how segment scores are smoothed: as --smooth_method, or "
        f"{', '.join(name for name, row in SMOOTH_METHODS.items() if row.segments_only)}",
        "NAME",
        choices=tuple(SMOOTH_METHODS),
        shown_default="default: as the corpus",
    )
    segment_smooth_value: float | None = flag(
        None,
        "the value of that method",
        "VALUE",
        convert=float,
        shown_default="default: the corpus's value if the method is the same, else the method's",
    )
    report: bool = flag(
        False,
        "also write DIR/report.html, a page with charts and examples. It needs the extra report; "
        f"--examples is then {_EXAMPLES_OF_REPORT}, unless you set it",
    )
    keep: tuple[tuple[str, str], ...] = flag(
        (),
        "columns of records, or labels, to copy into segment scores and examples, such as "
        f"id,source; {KEPT_TEXTS}: the candidates and references; NAME=: another name",
        "[NAME=]COLUMN,...",
        convert=_kept,
        split=columns,
    )

    @property
    def kept(self) -> tuple[tuple[str, str], ...]:
        """(name, column) of each kept column of records, or kept label of line-parallel text."""
        texts = ("", KEPT_TEXTS)
        return tuple(
            (name or column, column) for name, column in self.keep if (name, column) != texts
        )

    @property
    def keeps_texts(self) -> bool:
        return ("", KEPT_TEXTS) in self.keep


def with_report(flags: Config) -> Config:
    if not flags.report:
        return flags
    from beam_bleu.pipeline.report.page import require_jinja2

    require_jinja2()
    if flags.metrics_by:
        return flags  # without examples: a metric can be of only some segments
    return dataclasses.replace(flags, examples=flags.examples or _EXAMPLES_OF_REPORT)


def job_metrics(
    flags: Config, unpooled: str | None = None, configs: Mapping[MetricWord, Any] | None = None
) -> JobMetrics:
    """The metrics that a command line asks for, defined by its flags or by `configs`."""
    given, chosen = configs or {}, flags.chosen_metrics
    refuse_flags_of_other_metrics(flags, chosen)
    if flags.metrics_by and unpooled is None:
        raise UsageError(
            "--metrics_by needs tasks that are scored one by one",
            "name the --layout of an evaluation, such as lm-eval, without --pool_tasks; Evaluate "
            "needs unpooled",
        )
    text, bleu = Text(normalize=flags.choices.get("normalize")), BleuConfig()
    if DEFAULT_METRIC in chosen:
        bleu = given.get(DEFAULT_METRIC) or _usual_definition(flags)
        text = bleu.text
    scorings: dict[MetricWord, Scorings] = {}
    picked: dict[MetricWord, Metric] = {}
    texts: dict[TextName, Text] = {}
    for name in chosen:
        compared: Mapping[Any, BleuConfig] = {}
        if name == DEFAULT_METRIC:
            config: Any = bleu
            picked[name] = _of_segments(flags, bleu.metric)
            compared = COMPARISONS[flags.compare_presets](bleu) if flags.compare_presets else {}
        else:
            config = given.get(name) or config_of(name, flags, text.normalize)
        texts |= {each.text.name: each.text for each in (config, *compared.values())}
        scorings[name] = Scorings(
            name,
            config.text.name,
            config.metric,
            {
                preset: Definition(name, other.text.name, other.metric)
                for preset, other in compared.items()
            },
            picked.get(name, config.metric) if flags.segment_scores else None,
            flags.language_column,
            unpooled,
            flags.by_task,
        )
    return JobMetrics(scorings, texts, text, picked)


def _usual_definition(flags: Config) -> BleuConfig:
    chosen = {row.field: value for row, value in flags.choices_of(DEFAULT_METRIC).items()}
    language = None if flags.language is None else tokenizer_of(flags.language)
    # A language chooses the tokenizer, as in sacreBLEU, only for sacreBLEU's preset. With another
    # tokenizer, the other presets would no longer be what their names say.
    if language is not None and flags.preset in (None, DEFAULT_PRESET):
        chosen.setdefault("tokenize", language)
    model = chosen.get("spm_model")
    try:
        if model is not None:
            # Here, because it imports Beam, which takes longer than rescoring saved totals.
            from beam_bleu.pipeline.folder.paths import checked_path

            chosen["spm_model"] = read_model(checked_path("--spm_model", model, anywhere=False))
        config = preset(flags.preset or DEFAULT_PRESET, **chosen)
        require_library(config.text)
    except InputError as error:
        flag_of_model = f"--spm_model {model}" if model else f"--tokenize {chosen['tokenize']}"
        raise InputError(f"{flag_of_model}: {error.cause}", error.remedy) from error
    except ValueError as error:
        raise impossible(DEFAULT_METRIC, error) from None
    if language is not None and config.tokenize != language:
        raise UsageError(
            f"--language {flags.language} chooses the tokenizer {language}, and another flag "
            f"chooses {config.tokenize}",
            f"leave one of them out, or write --tokenize {language}",
        )
    if flags.compare_presets and not COMPARISONS[flags.compare_presets](config):
        raise UsageError(
            "--compare_presets: no preset has this --tokenize and this case",
            "give --compare_presets all, or choose the tokenizer and the case of a preset; "
            "--preset list shows them",
        )
    return config


def _of_segments(flags: Config, corpus: BleuConfig) -> BleuConfig:
    """The definition of segment BLEU; that of the corpus if nothing shows segment scores."""
    if not (flags.segment_scores or flags.examples or flags.diversity):
        return corpus
    changes = {
        "smooth_method": flags.segment_smooth_method,
        "smooth_value": flags.segment_smooth_value,
        "effective_order": False if "no_effective_order" in flags.choices else None,
    }
    try:
        return corpus.for_segments(
            **{field: value for field, value in changes.items() if value is not None}
        )
    except ValueError as error:
        raise UsageError(f"the segment scores: {error}", SEE_HELP) from None
