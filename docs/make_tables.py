"""Generates the tables of choices in the pages: a line for each row of a table in the code."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping

from beam_bleu.pipeline.command_line.help import SUBCOMMANDS
from beam_bleu.pipeline.command_line.layouts import LAYOUTS
from beam_bleu.pipeline.library.evaluate import KEYWORDS
from beam_bleu.pipeline.library.read_scores import (
    COMPARISON_COLUMNS,
    EXAMPLE_COLUMNS,
    METRIC_COLUMNS,
    RESULT_COLUMNS,
    SCORE_COLUMNS,
)
from beam_bleu.transforms.definition.resampling import RESAMPLING_METHODS
from beam_bleu.transforms.examples.example import EXAMPLE_KINDS
from beam_bleu.transforms.metrics.bleu.columns import FIRST_COLUMNS, REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.formula import SMOOTH_METHODS, SmoothMethod
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import PRESETS
from beam_bleu.transforms.pairing.paired import COVERAGES
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS
from beam_bleu.transforms.text.tokenizers import LANGUAGES, OTHER_LANGUAGES, TOKENIZERS
from docs.pages import code, table, with_part

PROJECT = pathlib.Path(__file__).parent.parent


_Parts = Mapping[str, str]
"""The generated parts of a page, by name."""


def made() -> dict[pathlib.Path, str]:
    """The pages with new tables, by path."""
    pages = {}
    for name, make in _PAGES.items():
        page = (PROJECT / name).read_text(encoding="utf-8")
        for part, text in make().items():
            page = with_part(page, part, text)
        pages[PROJECT / name] = page
    return pages


def _named(name: str, choices: Iterable[str]) -> str:
    """The name of a choice, marked if it is the default, which is the first of the choices."""
    return f"{code(name)} (default)" if name == next(iter(choices)) else code(name)


_OF_RESULTS = {
    "compare": "shows [how two runs differ](docs/nights.md#compare-two-runs), with p-values",
    "gate": "ends with exit code 4 if [a score is too low or has dropped](docs/nights.md#gates)",
    "history": "shows [the scores of many nights](docs/nights.md#the-history), and what changed",
    "merge": "adds up [the days of a month](docs/nights.md#a-month)",
    "meta": "shows [how well metrics agree with people](docs/metrics.md#agreement-with-people)",
    "report": "makes [an HTML page](docs/tables.md#a-page-for-colleagues) to send to colleagues",
    "rescore": "scores with [another smoothing or other weights](docs/result.md#saved-totals)",
    "table": "writes [a table for databases](docs/result.md#a-table-for-databases), as Parquet",
    "worst": "shows [the segments](docs/tables.md#the-segments-behind-a-score) that lost most",
}
"""What each subcommand that reads results does with them."""


def _readme() -> _Parts:
    rows = [
        [code(f"beam-bleu {name} {SUBCOMMANDS[name].words.removesuffix(' [flags]')}"), does]
        for name, does in _OF_RESULTS.items()
    ]
    return {"subcommands": table(["command", "what it does"], rows)}


def _metrics() -> _Parts:
    tokenizers = [
        [
            code(row.name),
            row.description + (f"; needs `./run.sh install {row.extra}`" if row.extra else ""),
        ]
        for row in TOKENIZERS.values()
    ]
    languages = [
        [row.description, " ".join(map(code, row.codes)), code(row.tokenize)]
        for row in LANGUAGES.values()
    ]
    languages.append(["every other language", "", code(OTHER_LANGUAGES)])
    lengths = [
        [
            code(row.name),
            row.description,
            ", ".join([*(["sacreBLEU"] if row.in_sacrebleu else []), *row.tools]),
        ]
        for row in REFERENCE_LENGTHS.values()
    ]
    smoothing = [
        [
            _named(row.name, [BleuConfig.smooth_method]),
            row.description if row.value is None else f"{row.description}; v = {row.value:g}",
            _source(row),
        ]
        for row in SMOOTH_METHODS.values()
    ]
    presets = [
        [
            code(row.name),
            f"{row.source}; {row.details}" if row.details else row.source,
        ]
        for row in PRESETS.values()
    ]
    return {
        "tokenizers": table(["tokenizer", "tokens"], tokenizers),
        "tokenizers of languages": table(["language", "codes", "tokenizer"], languages),
        "rules of reference lengths": table(["rule", "length", "as in"], lengths),
        "smoothing methods": table(["method", "precision", "source"], smoothing),
        "presets": table(["preset", "equals"], presets),
    }


def _source(row: SmoothMethod) -> str:
    if row.segments_only:
        return f"{row.source}; [segments](#segment-scores) only"
    return f"{row.source}; sacreBLEU" if row.sacrebleu else row.source


_LAYOUTS = {
    "mt-metrics-eval": "test sets of WMT's metrics tasks: `--input` is the folder of one, "
    "`--language` a pair. The labels are `domain` and `document`",
    "wmt25": "WMT25's general task: a file of each system, joined by `doc_id` with the references "
    "(`refs.refA.ref`) of wmt25-genmt.jsonl. `--where tgt_lang=CODE` chooses the tokenizer, too",
    "wmt24pp": "WMT24++: `target` is the reference, and records with `is_bad_source` are left "
    "out. Outputs in other files are joined by `segment_id`. Needs `--language CODE`",
    "lm-eval": "samples_*.jsonl of the LM Evaluation Harness: `filtered_resps[0]` and `target`; "
    "for perplexity, `word_perplexity` and `byte_perplexity`, per word. Needs `--where "
    "filter=NAME`, except for perplexity",
    "lighteval": "details_*.parquet of Lighteval: `model_response.text[0]` and "
    "`doc.choices[0]`, of version 0.10 or later, for tasks whose `doc.gold_index` is 0. "
    "`model_response.text_post_processed[0]` is without reasoning",
    "hf-translation": "data sets of the Hugging Face Hub with a column such as `translation: "
    "{en, fr}`: `--language` says which one is the reference",
    "opus": "aligned text files of OPUS and of its test sets. The label `label` is in REF.labels",
    "comet": "scores of comet-score for `-m mean:COMET`, the default: the file of `--to_json`, or "
    "stdout in a file: `--input scores.json`, with all systems, or `-i FILE...`",
    "squad": "SQuAD from the Hugging Face Hub: `answers.text`, and a file of each system with "
    "`prediction_text`, joined by `id`, for `-m exact_match token_f1`, the default. A question "
    "without answers has the empty answer, as in SQuAD 2.0's program",
    "lmms-eval": "*_samples_*.jsonl of lmms-eval, of tasks with one filter: `-m mean:COLUMN`, such "
    "as `mean:mme_perception_score.score`; for texts, `filtered_resps` and `target`",
    "swe-bench": "reports of `swebench.harness.run_evaluation`, one of each system: "
    "`mean:resolved`, of all instances, as in the report. `--where submitted=1` leaves out those "
    "without a prediction",
    "livecodebench": "*_eval_all.json of LiveCodeBench, one of each system: `mean:pass@1`",
    "evalplus": "*eval_results.json of EvalPlus, one of each system: `mean:base` and `mean:plus`, "
    "the shares of samples that pass (pass@1)",
    "kaldi": "the files `text` of Kaldi and its relatives: an id and words in each line",
}
"""Where each layout occurs, and what it sets."""


def _inputs() -> _Parts:
    header = ["format", "`--input_format`", "suffixes"]
    formats = [
        [row.label, code(name), " ".join(map(code, row.suffixes))]
        for name, row in RECORD_FORMATS.items()
    ]
    coverages = [
        [
            _named(name, COVERAGES),
            rule + (": otherwise the exit code is 3" if name == "strict" else ""),
        ]
        for name, rule in COVERAGES.items()
    ]
    layouts = [[code(name), _LAYOUTS[name]] for name in LAYOUTS]
    return {
        "formats of records": table(header, formats),
        "rules of coverage": table(["`--coverage`", "what is scored"], coverages),
        "layouts": table(["layout", "its files, and what it sets"], layouts),
    }


def _result() -> _Parts:
    columns = [
        [code(field.name), str(field.type), field.metadata[b"meaning"].decode()]
        for field in RESULT_COLUMNS
    ]
    fields = {
        f"fields of {name}.json": "\n".join(_objects(f"{name}.schema.json"))
        for name in ("scores", "manifest", "run")
    }
    return {**fields, "columns of the table": table(["column", "type", "meaning"], columns)}


def _objects(file: str) -> Iterator[str]:
    """For each object of a JSON Schema, a heading and a list of its fields with descriptions."""
    schema = json.loads((PROJECT / "docs" / file).read_text(encoding="utf-8"))
    for name, definition in {"": schema, **schema["$defs"]}.items():
        fields = definition.get("properties", {}).items()
        lines = [
            f"- {code(field)}: {about['description']}\n"
            for field, about in fields
            if "description" in about
        ]
        if lines:
            yield "".join([*([f"### {code(name)}\n\n"] if name else []), *lines])


def _tables() -> _Parts:
    of_system = {True: "each one but the baseline", False: "each one"}
    kinds = [
        [code(row.name), of_system[row.compares], row.description] for row in EXAMPLE_KINDS.values()
    ]
    schemas = {
        "metrics": METRIC_COLUMNS,
        "scores": SCORE_COLUMNS,
        "comparisons": COMPARISON_COLUMNS,
        "examples": EXAMPLE_COLUMNS,
    }
    columns = [[code(name), ", ".join(schema.names)] for name, schema in schemas.items()]
    return {
        "kinds of examples": table(["`kind`", "of which system", "which segments"], kinds),
        "columns of read_scores": table(["table", "columns"], columns),
    }


def _library() -> _Parts:
    rows = [[code(name), summed] for name, summed in FIRST_COLUMNS.items()]
    of_orders = [
        ["`matches_1` to `matches_N`", "clipped n-gram matches"],
        [
            "`short_1` to `short_N`",
            "1 if the candidate has fewer than n tokens, else 0. The candidates have "
            "`candidate_length` - (n - 1) `segments` + `short_1` + ... + `short_(n-1)` n-grams",
        ],
        [
            "`A_x_B`",
            "the product of the columns A and B, for each pair, also of a column and itself",
        ],
        [
            "`min_references`, `max_references`",
            "not added up: the smallest and the largest number of references",
        ],
    ]
    header = ["column", "what is added up over the segments"]
    return {
        "flags that are keywords": ", ".join(code(f"--{name}") for name in KEYWORDS) + ".\n",
        "columns of BLEU": table(header, [*rows, *of_orders]),
    }


def _significance() -> _Parts:
    header = ["method", "what a replicate is", "default number"]
    rows = [
        [code(row.name), row.description, f"{row.resamples:,}"]
        for row in RESAMPLING_METHODS.values()
    ]
    return {"resampling methods": table(header, rows)}


_PAGES: Mapping[str, Callable[[], _Parts]] = {
    "README.md": _readme,
    "docs/inputs.md": _inputs,
    "docs/metrics.md": _metrics,
    "docs/library.md": _library,
    "docs/result.md": _result,
    "docs/tables.md": _tables,
    "docs/significance.md": _significance,
}
"""The functions that make the tables of each page."""
