"""`beam-bleu table` writes the rows of results as Parquet, for databases and warehouses."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pyarrow as pa

from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.history.nights import Night, result_paths, with_result
from beam_bleu.pipeline.library.read_scores import result_table
from beam_bleu.pipeline.saved.saved_result import result_at
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.definition.flags import Flag


def table_command(argv: Sequence[str]) -> int:
    description = (
        "Writes a table in the format Parquet to stdout, with a row for each score and each "
        "comparison of the results. Its columns are the same for all results. A warning names "
        "those that are left out because their runs failed."
    )
    results = Flag(
        "results",
        "a folder of a result, a folder that contains such folders, a scores.json, or a pattern of "
        "such paths in quotes; on this machine or in an object store",
        "RESULT",
        nargs="+",
    )
    return run("table", description, {"input": [results]}, argv, _table)


def _table(flags: argparse.Namespace) -> bytes:
    import pyarrow.parquet as pq

    nights = [with_result(Night(path, path)) for path in result_paths(flags.results)]
    tables = [result_table(night.saved) for night in nights if night.saved is not None]
    if not tables:
        result_at(nights[0].path)  # an error that says what is missing
    for night in nights:
        if night.failure:
            warn(f"{night.path} is left out: {night.failure}")
    file = pa.BufferOutputStream()
    pq.write_table(pa.concat_tables(tables), file)
    data: bytes = file.getvalue().to_pybytes()
    return data
