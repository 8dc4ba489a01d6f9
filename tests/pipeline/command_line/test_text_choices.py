"""The command with normalization and with tokenizers of other libraries, end to end."""

from __future__ import annotations

import os
import pathlib
import unicodedata

import apache_beam as beam
import pytest
import sentencepiece
import spm_models
from apache_beam.options.pipeline_options import PipelineOptions
from command_line import assert_equals_sacrebleu, called, streams, write_lines
from result_folder import RECORDS

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.graph import build
from beam_bleu.transforms.text.text import SentencePieceModel

JAPANESE = [
    "東京都に住んでいる学生は、毎日図書館で本を読みます。",
    "吾輩は猫である。",
    "",
    "ＡＢＣ 猫",
]
KOREAN = ["안녕하세요, 저는 서울에 살고 있습니다.", "나는 학교에 갑니다.", "", "한국어"]
EUROPEAN = ["Le café était fermé.", "Ångström lived in Uppsala, naïvely.", "", "ô\u0323 ﬁn"]


def written(tmp_path, lines, change=str) -> list[str]:
    """The arguments for a candidate and two references; (candidate, references) as lines."""
    candidate = [change(line).replace("は", "が").replace("저는", "나는") for line in lines]
    references = [lines, [*lines[1:], lines[0]]]
    return streams(
        [write_lines(tmp_path / "candidate.txt", candidate)],
        [write_lines(tmp_path / f"{i}.txt", each) for i, each in enumerate(references)],
    )


def corpus(tmp_path) -> tuple[list[str], list[list[str]]]:
    texts = [
        (tmp_path / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for name in ("candidate.txt", "0.txt", "1.txt")
    ]
    return texts[0], texts[1:]


def in_form(form, lines):
    return [unicodedata.normalize(form, line) for line in lines]


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_normalization(tmp_path, form):
    arguments = written(tmp_path, EUROPEAN, lambda line: unicodedata.normalize("NFD", line))
    plain = called(*arguments, "--format", "json").document
    run = called(*arguments, "--normalize", form.lower(), "--format", "json")
    candidate, references = corpus(tmp_path)
    normalized = [in_form(form, lines) for lines in references]
    assert_equals_sacrebleu(run.document, [in_form(form, candidate)], normalized)
    assert plain["scores"][0]["matches"][0] < run.document["scores"][0]["matches"][0]
    assert f"norm:{form.lower()}" in run.signature.split("|")
    assert f"unicode:{unicodedata.unidata_version}" in run.signature.split("|")


@pytest.fixture
def model_file(tmp_path) -> pathlib.Path:
    path = tmp_path / "pieces.model"
    path.write_bytes(spm_models.model(byte_fallback=True))
    return path


def test_any_model_of_sentencepiece(tmp_path, model_file):
    arguments = written(tmp_path, [*JAPANESE, *KOREAN, *EUROPEAN, *spm_models.sentences(5, 40)])
    flags = ["--tokenize", "spm", "--spm_model", model_file, "--range_bytes", "500"]
    flags += ["--allow", "order"]  # the second references are those of the lines above
    run = called(*arguments, *flags, "--format", "json")
    candidate, references = corpus(tmp_path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model_file))

    def cut(lines):
        return [" ".join(processor.EncodeAsPieces(line.rstrip())) for line in lines]

    assert_equals_sacrebleu(
        run.document, [cut(candidate)], [cut(lines) for lines in references], tokenize="none"
    )
    digest = SentencePieceModel.of(model_file.read_bytes()).digest
    fields = run.signature.split("|")
    assert f"tok:spm-{digest}" in fields
    assert f"sentencepiece:{sentencepiece.__version__}" in fields
    other = tmp_path / "other.model"
    other.write_bytes(spm_models.model(seed=2))
    flags[3] = f"file://{other}"
    assert called(*arguments, *flags, "--format", "json").signature.split("|") != fields


NOISE = 3_000_000


def test_a_jobs_graph_contains_the_model_once(tmp_path):
    path = tmp_path / "large.model"
    path.write_bytes(spm_models.padded_model(NOISE))
    flags = ["--tokenize=spm", "--spm_model", str(path), "--segment_scores"]
    flags += ["--output", str(tmp_path)]
    job = parse([*map(str, written(tmp_path, EUROPEAN)), *flags]).job
    assert len(job.metrics.lengths.spm_model.data) > NOISE
    pipeline = beam.Pipeline(options=PipelineOptions([]))
    build(pipeline, job)
    assert NOISE < len(pipeline.to_runner_api().SerializeToString()) < 2 * NOISE


def test_a_bad_model_is_named_before_the_job_runs(tmp_path, capfd):
    path, output = tmp_path / "bad.model", tmp_path / "out"
    for data in (None, b"", b"\x1f\x8b garbage"):
        reason = "cannot be read" if data is None else "the file is not a SentencePiece model"
        if data is not None:
            path.write_bytes(data)
        flags = ["--tokenize", "spm", "--spm_model", path, "--output", output]
        run = called(*written(tmp_path, EUROPEAN), *flags)
        run.assert_failed(3, f"--spm_model {path}: {reason}")
        assert capfd.readouterr().err == ""  # to which the library itself writes
        assert sorted(os.listdir(output)) == RECORDS
