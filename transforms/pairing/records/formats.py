"""The table of formats of record files: names, suffixes, and what separates records or fields."""

from __future__ import annotations

import dataclasses
import functools
from typing import Literal, get_args

from beam_bleu.transforms.pairing.files.streams import compression
from beam_bleu.transforms.pairing.files.tables import table_kind

RecordFormatName = Literal[
    "parquet",
    "arrow",
    "avro",
    "jsonl",
    "tsv",
    "csv",
    "quoted-tsv",
    "json",
    "comet",
    "sgm",
    "wmt-xml",
    "seg-score",
    "swe-bench",
    "evalplus",
    "trn",
    "stm",
    "kaldi",
]
RECORD_FORMAT_NAMES: tuple[RecordFormatName, ...] = get_args(RecordFormatName)


@dataclasses.dataclass(frozen=True)
class RecordFormat:
    """A format of records. `delimiter` separates fields, if the format is text with fields.

    `parser`: "MODULE.FUNCTION" in `whole_files`, for files that are parsed as a whole. If such a
    format has columns with a fixed meaning, `ids` joins files, `text` has the candidates and, if
    there is no column `reference`, the references, and long records have a `system`.
    """

    label: str
    suffixes: tuple[str, ...]
    is_of_lines: bool = False
    delimiter: str = ""
    parser: str = ""
    ids: tuple[str, ...] = ()
    text: str = ""
    reference: str = ""
    system: str | None = None


_transcripts = functools.partial(RecordFormat, ids=("id",), text="text")

RECORD_FORMATS: dict[RecordFormatName, RecordFormat] = {
    "parquet": RecordFormat("Parquet", (".parquet", ".pq")),
    "arrow": RecordFormat("Arrow", (".arrow", ".feather", ".ipc", ".arrows")),
    "avro": RecordFormat("Avro", (".avro",)),
    "jsonl": RecordFormat("JSON lines", (".jsonl", ".ndjson"), is_of_lines=True),
    "tsv": RecordFormat("tab-separated text", (".tsv",), is_of_lines=True, delimiter="\t"),
    "csv": RecordFormat("CSV", (".csv",), delimiter=","),
    "quoted-tsv": RecordFormat("tab-separated text with quotes", (), delimiter="\t"),
    "json": RecordFormat("JSON", (".json",), parser="json_documents.rows"),
    "comet": RecordFormat(
        "output of comet-score", (), parser="comet.rows", ids=("segment",), system="system"
    ),
    "sgm": RecordFormat(
        "SGML of WMT",
        (".sgm", ".sgml"),
        parser="wmt.sgm_rows",
        ids=("docid", "segment"),
        text="text",
    ),
    "wmt-xml": RecordFormat(
        "XML of WMT",
        (".xml",),
        parser="wmt.xml_rows",
        ids=("docid", "segment"),
        text="text",
        reference="ref",
        system="system",
    ),
    "seg-score": RecordFormat(
        "segment scores of mt-metrics-eval",
        (".seg.score",),
        parser="wmt.score_rows",
        ids=("segment",),
        system="system",
    ),
    "swe-bench": RecordFormat(
        "reports of SWE-bench", (), parser="code_results.swe_bench", ids=("instance_id",)
    ),
    "evalplus": RecordFormat(
        "results of EvalPlus", (), parser="code_results.evalplus", ids=("task_id",)
    ),
    "trn": _transcripts("transcripts of sclite", (".trn",), parser="speech.trn_rows"),
    "stm": _transcripts("timed transcripts of sclite", (".stm",), parser="speech.stm_rows"),
    "kaldi": _transcripts("text of Kaldi", (), parser="speech.kaldi_rows"),
}


def format_of_name(pattern: str) -> RecordFormatName | None:
    if table_kind(pattern) is not None:
        return "parquet"
    end = pattern.lower().removesuffix(compression(pattern) or "")
    names = [name for name, row in RECORD_FORMATS.items() if end.endswith(row.suffixes)]
    return names[0] if names else None
