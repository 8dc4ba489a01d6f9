"""Makes the tables of choices in the pages: a line for each row of a table in the code."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping

import pyarrow as pa

from beam_bleu.pipeline.command_line.help import SUBCOMMANDS
from beam_bleu.pipeline.command_line.layouts import LAYOUTS
from beam_bleu.pipeline.history.nights import ORDERS
from beam_bleu.pipeline.library.keywords import KEYWORDS
from beam_bleu.pipeline.notebook.read_scores import (
    COMPARISON_COLUMNS,
    EXAMPLE_COLUMNS,
    METRIC_COLUMNS,
    SCORE_COLUMNS,
)
from beam_bleu.transforms.definition.resampling import RESAMPLING_METHODS
from beam_bleu.transforms.examples.example import EXAMPLE_KINDS
from beam_bleu.transforms.metrics.bleu.columns import FIRST_COLUMNS, REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import PRESETS
from beam_bleu.transforms.metrics.bleu.smoothing import SMOOTH_METHODS, SmoothMethod
from beam_bleu.transforms.pairing.files.streams import COMPRESSIONS
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS
from beam_bleu.transforms.pairing.records.joins.findings import COVERAGES
from beam_bleu.transforms.text.languages import LANGUAGES, OTHER_LANGUAGES
from beam_bleu.transforms.text.tokenizers import TOKENIZERS
from docs.pages import code, table, with_part

PROJECT = pathlib.Path(__file__).parent.parent


def made() -> dict[pathlib.Path, str]:
    """The pages with new tables, by their paths."""
    pages = {}
    for name, tables in _TABLES.items():
        page = (PROJECT / name).read_text(encoding="utf-8")
        for kind, make in tables.items():
            page = with_part(page, kind, make())
        pages[PROJECT / name] = page
    return pages


# README.md and docs/tour.md


_OF_RESULTS = {
    "compare": "shows how two runs differ, and how certain the differences are ([two "
    "nights](docs/significance.md#did-last-nights-job-drop))",
    "gate": "checks the scores: exit code 4 if one is too low, or has dropped "
    "([gates](docs/terminal.md#gates))",
    "history": "shows the scores of many nights, what changed and what is missing "
    "([history](docs/history.md))",
    "merge": "adds up the days of a month, with the result of one run over all texts; "
    "warns of missing days ([totals](docs/totals.md))",
    "report": "makes one HTML page to send to colleagues: who is best, where and why "
    "([the report](docs/report.md))",
    "rescore": "scores with other smoothing, weights or orders "
    "([totals](docs/totals.md#score-by-another-definition))",
    "worst": "shows the worst segments, or those that lost most against another system"
    " ([examples](docs/examples.md#show-them))",
}
"""What the subcommands that read results do with them."""


def _subcommands() -> str:
    return table(
        ["command", "what it does"],
        [
            [code(f"beam-bleu {name} {SUBCOMMANDS[name].words.removesuffix(' [flags]')}"), does]
            for name, does in _OF_RESULTS.items()
        ],
    )


# docs/examples.md


def _example_kinds() -> str:
    compared = {True: "each one but the baseline", False: "each one"}
    return table(
        ["`kind`", "of which system", "which segments"],
        [
            [code(row.name), compared[row.compares], row.description]
            for row in EXAMPLE_KINDS.values()
        ],
    )


# docs/history.md


def _orders() -> str:
    return table(
        ["order", "by"], [[code(name), description] for name, description in ORDERS.items()]
    )


# docs/definitions.md


def _tokenizers() -> str:
    return table(
        ["tokenizer", "tokens", "equals"],
        [
            [
                code(row.name),
                f"{row.description}; needs `./run.sh install {row.extra}`"
                if row.extra
                else row.description,
                row.equals,
            ]
            for row in TOKENIZERS.values()
        ],
    )


def _languages() -> str:
    rows = [
        [row.description, " ".join(map(code, row.codes)), code(row.tokenize)]
        for row in LANGUAGES.values()
    ]
    others = ["every other language", "", code(OTHER_LANGUAGES)]
    return table(["language", "codes", "tokenizer"], [*rows, others])


def _reference_lengths() -> str:
    return table(
        ["rule", "length", "as in"],
        [
            [
                code(row.name),
                row.description,
                ", ".join(["sacreBLEU", *row.tools] if row.in_sacrebleu else row.tools),
            ]
            for row in REFERENCE_LENGTHS.values()
        ],
    )


def _smooth_methods() -> str:
    return table(
        ["method", "precision", "source"],
        [
            [
                _name(row.name, is_default=row.name == BleuConfig.smooth_method),
                row.description if row.value is None else f"{row.description}; v = {row.value:g}",
                _source(row),
            ]
            for row in SMOOTH_METHODS.values()
        ],
    )


def _source(row: SmoothMethod) -> str:
    if row.segments_only:
        return f"{row.source}, for [segment scores](#segment-scores) only"
    return f"{row.source}; sacreBLEU" if row.sacrebleu else row.source


def _presets() -> str:
    return table(
        ["preset", "equals", "verified by"],
        [
            [
                code(row.name),
                f"{row.source}; {row.details}" if row.details else row.source,
                row.verified_by,
            ]
            for row in PRESETS.values()
        ],
    )


# docs/inputs.md


def _record_formats() -> str:
    whole = " ".join(map(code, COMPRESSIONS))
    return table(
        ["format", "`--input_format`", "suffixes", "compressed as a whole", "column names"],
        [
            [
                row.label,
                code(name),
                " ".join(map(code, row.suffixes)),
                whole if row.is_text else f"no: {row.label} compresses inside",
                row.column_names,
            ]
            for name, row in RECORD_FORMATS.items()
        ],
    )


def _coverages() -> str:
    return table(
        ["`--coverage`", "what is scored"],
        [
            [
                _name(name, is_default=name == next(iter(COVERAGES))),
                f"{row.description}: otherwise the exit code is 3"
                if row.complete
                else row.description,
            ]
            for name, row in COVERAGES.items()
        ],
    )


_LAYOUTS = {
    "mt-metrics-eval": "test sets of WMT's metrics tasks: --input is the folder of one, "
    "--language a pair; sets system-outputs/PAIR/*.txt, "
    "references/PAIR.refA.txt and, for --slice_by or --keep domain or "
    "document and for --documents document, documents/PAIR.docs",
    "wmt25": "the general task of WMT25: a file of each system, joined by doc_id with "
    "the references (refs.refA.ref) of wmt25-genmt.jsonl; needs --where "
    "tgt_lang=CODE, which chooses the tokenizer, too",
    "wmt24pp": "WMT24++: target is the reference, and records with is_bad_source are "
    "left out; outputs in other files are joined by segment_id; needs "
    "--language CODE",
    "lm-eval": "samples_*.jsonl of the LM Evaluation Harness: filtered_resps[0] and "
    "target; needs --where filter=NAME; for perplexity word_perplexity and "
    "byte_perplexity, per word; the label task comes from the names of the "
    "files",
    "lighteval": "details_*.parquet of Lighteval: model_response.text[0] and "
    "doc.choices[0]; the label task comes from the names of the files",
    "hf-translation": "data sets of the Hugging Face Hub with a column such as translation: "
    "{en, fr}: --language says which one is the reference",
    "opus": "aligned text files of OPUS and of its test sets; for --slice_by or "
    "--keep label, the labels in REF.labels",
}
"""Where a layout is found, and what it sets."""


def _layouts() -> str:
    return table(
        ["layout", "its files, and what it sets"],
        [[code(name), _LAYOUTS[name]] for name in LAYOUTS],
    )


# docs/notebook.md


def _arrow_columns(schema: pa.Schema) -> str:
    return table(
        ["column", "type", "meaning"],
        [
            [code(field.name), str(field.type), field.metadata[b"meaning"].decode()]
            for field in schema
        ],
    )


# docs/library_state.md


def _columns() -> str:
    rows = [[code(name), summed] for name, summed in FIRST_COLUMNS.items()]
    of_orders = [
        ["`matches_1` to `matches_N`", "clipped n-gram matches"],
        [
            "`short_1` to `short_N`",
            "1 if the candidate has fewer than n tokens, else 0. The n-grams in the candidates "
            "follow from these: for order n they are `candidate_length` - (n - 1) `segments` + "
            "`short_1` + ... + `short_(n-1)`.",
        ],
        [
            "`A_x_B`",
            "the product of the columns A and B of the segment, for each pair, also of a column "
            "and itself",
        ],
        [
            "`min_references`, `max_references`",
            "not added up: the smallest and the largest number of references of a segment",
        ],
    ]
    return table(["column", "what is added up over the segments"], [*rows, *of_orders])


# docs/resampling.md


def _resampling_methods() -> str:
    return table(
        ["method", "what a replicate is", "default number"],
        [
            [code(row.name), row.description, f"{row.resamples:,}"]
            for row in RESAMPLING_METHODS.values()
        ],
    )


def _name(name: str, *, is_default: bool) -> str:
    return f"{code(name)} (default)" if is_default else code(name)


# docs/evaluate.md


def _keywords() -> str:
    return ", ".join(code(f"--{name}") for name in KEYWORDS) + "."


_TABLES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "README.md": {"subcommands": _subcommands},
    "docs/tour.md": {"subcommands": lambda: _subcommands().replace("](docs/", "](")},
    "docs/definitions.md": {
        "tokenizers": _tokenizers,
        "tokenizers of languages": _languages,
        "rules of reference lengths": _reference_lengths,
        "smoothing methods": _smooth_methods,
        "presets": _presets,
    },
    "docs/examples.md": {"kinds of examples": _example_kinds},
    "docs/history.md": {"orders of nights": _orders},
    "docs/inputs.md": {
        "formats of records": _record_formats,
        "rules of coverage": _coverages,
        "layouts": _layouts,
    },
    "docs/notebook.md": {
        "columns of scores": lambda: _arrow_columns(SCORE_COLUMNS),
        "columns of comparisons": lambda: _arrow_columns(COMPARISON_COLUMNS),
        "columns of examples": lambda: _arrow_columns(EXAMPLE_COLUMNS),
        "columns of metrics": lambda: _arrow_columns(METRIC_COLUMNS),
    },
    "docs/evaluate.md": {"flags that are keywords": _keywords},
    "docs/library_state.md": {"columns of BLEU": _columns},
    "docs/resampling.md": {"resampling methods": _resampling_methods},
}
"""By page, the names of its tables and what makes them."""
