"""The command with normalization and with tokenizers of other libraries, end to end."""

from __future__ import annotations

import os
import unicodedata

import apache_beam as beam
import sentencepiece
import spm_models
from apache_beam.options.pipeline_options import PipelineOptions
from command_line import assert_equals_sacrebleu, called, streams, write_lines
from result_folder import RECORDS

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.graph import build
from beam_bleu.transforms.text.text import SentencePieceModel

EUROPEAN = ["Le café était fermé.", "Ångström lived in Uppsala, naïvely.", "", "ô\u0323 ﬁn"]
ASIAN = ["吾輩は猫である。", "ＡＢＣ 猫", "", "저는 서울에 살고 있습니다."]


def written(folder, lines: list[str]) -> tuple[list[str], list[list[str]], list]:
    """A candidate, two references, and the arguments for their files."""
    candidate = [line.replace("は", "が").replace("저는", "나는") for line in lines]
    references = [lines, [*lines[1:], lines[0]]]
    files = [write_lines(folder / f"{i}.txt", text) for i, text in enumerate(references)]
    hyp = write_lines(folder / "candidate.txt", candidate)
    return candidate, references, streams([hyp], files, "--format=json")


def test_normalization(tmp_path):
    decomposed = [unicodedata.normalize("NFD", line) for line in EUROPEAN]
    _, references, arguments = written(tmp_path, EUROPEAN)
    write_lines(tmp_path / "candidate.txt", decomposed)
    plain = called(*arguments).document
    for form in ("NFC", "NFKC"):
        candidate, *normalized = (
            [unicodedata.normalize(form, line) for line in lines]
            for lines in (decomposed, *references)
        )
        run = called(*arguments, "--normalize", form.lower())
        assert_equals_sacrebleu(run.document, [candidate], normalized)
        assert plain["scores"][0]["matches"][0] < run.document["scores"][0]["matches"][0]
        facts = {f"norm:{form.lower()}", f"unicode:{unicodedata.unidata_version}"}
        assert facts < {*run.signature.split("|")}


def test_any_model_of_sentencepiece(tmp_path):
    model = tmp_path / "pieces.model"
    model.write_bytes(spm_models.model(byte_fallback=True))
    lines = [*ASIAN, *EUROPEAN, *spm_models.sentences(5, 40)]
    candidate, references, arguments = written(tmp_path, lines)
    flags = ["--tokenize", "spm", "--spm_model", model, "--range_bytes", "500"]
    flags += ["--allow", "order"]  # the second references are those of the lines above
    run = called(*arguments, *flags)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    candidate, *references = (
        [" ".join(processor.EncodeAsPieces(line.rstrip())) for line in lines]
        for lines in (candidate, *references)
    )
    assert_equals_sacrebleu(run.document, [candidate], references, tokenize="none")
    digest = SentencePieceModel.of(model.read_bytes()).digest
    fields = run.signature.split("|")
    assert f"tok:spm-{digest}" in fields
    assert f"sentencepiece:{sentencepiece.__version__}" in fields
    other = tmp_path / "other.model"
    other.write_bytes(spm_models.model(seed=2))
    flags[3] = f"file://{other}"
    assert called(*arguments, *flags).signature.split("|") != fields


def test_a_model_of_sacrebleu(tmp_path, monkeypatch):
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    _, _, arguments = written(tmp_path, EUROPEAN)
    flags = ["--tokenize", "flores200"]
    path = tmp_path / "models" / "flores200sacrebleuspm"
    called(*arguments, *flags).assert_failed(3, "--tokenize flores200: the model", str(path))
    path.parent.mkdir()
    path.write_bytes(b"<html>")
    called(*arguments, *flags).assert_failed(3, "--tokenize flores200: the file is not a Sentence")
    path.write_bytes(spm_models.model())
    found = called(*arguments, *flags)
    (metric,) = found.document["metrics"]
    assert "|tok:flores200|" in metric["sacrebleu_signature"]
    elsewhere = path.rename(tmp_path / "pieces.model")
    assert called(*arguments, *flags, "--spm_model", elsewhere).out == found.out


NOISE = 3_000_000


def test_a_jobs_graph_contains_the_model_once(tmp_path):
    path = tmp_path / "large.model"
    path.write_bytes(spm_models.padded_model(NOISE))
    flags = ["--tokenize=spm", "--spm_model", str(path), "--segment_scores"]
    flags += ["--output", str(tmp_path)]
    job = parse([*map(str, written(tmp_path, EUROPEAN)[-1]), *flags]).job
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
        run = called(*written(tmp_path, EUROPEAN)[-1], *flags)
        run.assert_failed(3, f"--spm_model {path}: {reason}")
        assert capfd.readouterr().err == ""  # to which the library itself writes
        assert sorted(os.listdir(output)) == RECORDS
