"""The job that flags describe, apart from where its input is and where its output goes."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.command_line.definition_flags import job_metrics
from beam_bleu.pipeline.command_line.evidence_flags import evidence
from beam_bleu.pipeline.command_line.gate_flags import gates_of_run
from beam_bleu.pipeline.command_line.keep_flag import check_kept, keep
from beam_bleu.pipeline.command_line.output_flags import partition, with_partition, with_saving
from beam_bleu.pipeline.command_line.slice_flags import (
    check_documents,
    check_labels,
    document_label,
    slicing,
)
from beam_bleu.pipeline.job import Job, new_run
from beam_bleu.pipeline.scoring.scorings import schema_of_segments
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.pairing.needs import Needs
from beam_bleu.transforms.pairing.paired import Source


def job_of(
    flags: argparse.Namespace,
    source: Source,
    needs: Needs,
    *,
    unpooled: str | None = None,
    configs: Mapping[MetricWord, Any] | None = None,
    run: str = "",
    threads: int = 1,
) -> Job:
    """The job that flags describe, without an output folder.

    Args:
      flags: the parsed flags, with the settings of their layout.
      source: the input.
      needs: what the metrics need of the input.
      unpooled: the label whose values have no common score; None if all segments have one.
      configs: the definitions of metrics that no flags define.
      run: the run's name; a new one if it is "".
      threads: the number of threads of a worker.

    Raises:
      UsageError: a value or a combination is impossible, or something has no effect.
      InputError: a file that a flag names cannot be read.
    """
    kept = keep(flags)
    slices = slicing(flags)
    if "references" not in needs.roles and any(LENGTH in item for item in slices.items):
        raise UsageError(
            f"--slice_by {LENGTH}: the references have this length, and --metrics "
            f"{' '.join(flags.metrics)} reads none",
            "leave it out, or ask for a metric of texts, too",
        )
    documents = document_label(flags, source.labels)
    found_out = dataclasses.replace(evidence(flags, source.systems), documents=documents)
    job = Job(
        source=source,
        metrics=job_metrics(flags, unpooled, configs),
        output="",
        segment_scores=flags.segment_scores,
        examples=flags.examples or 0,
        run=run or new_run(),
        threads=threads,
        allow=tuple(sorted({*flags.allow})),
        slicing=slices,
        evidence=with_partition(with_saving(found_out, flags), partition(flags)),
    )
    columns = None
    if job.segment_scores:
        columns = schema_of_segments(job.scorings, texts=source.keeps_texts).names
        check_kept(kept, columns, source.labels, needs)
        columns += source.kept
    check_documents(documents, found_out, slices, columns)
    check_labels(source.labels, slices, flags.language_column, columns)
    return dataclasses.replace(job, gates=gates_of_run(flags, job))
