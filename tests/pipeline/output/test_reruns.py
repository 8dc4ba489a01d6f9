"""--partition and --if_exists: what happens to a result that is already there."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from command_line import COMMAND, EXAMPLES, REFERENCES, SYSTEMS, called, streams
from result_folder import assert_files

DOCUMENTS = EXAMPLES / "documents.txt"
ONE = streams([SYSTEMS["birch"]], REFERENCES[:1])
DAY = ["--partition", "2026-11-21"]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def content(out):
    """Each file in the folder: its bytes, and when it was changed."""
    return {
        name: ((out / name).read_bytes(), os.stat(out / name).st_mtime_ns)
        for name in os.listdir(out)
    }


def scored(out, *flags):
    run = called(*ONE, "--output", out, *flags, "--format=json")
    assert run.code == 0, run.err
    return run.out


def test_the_label_is_in_the_result_and_in_the_records(out):
    document = json.loads(scored(out, *DAY))
    assert document["partition"] == "2026-11-21"
    assert json.loads((out / "run.json").read_bytes())["partition"] == "2026-11-21"
    # As a label, each night would begin a new time series.
    assert "2026-11-21" not in (out / "metrics.prom").read_text()
    assert "partition" not in json.loads(scored(out))


@pytest.mark.parametrize("label", ["", " ", "a/b", " a", "a\nb", "\u200b"])
def test_impossible_labels(label):
    called(*ONE, f"--partition={label}").assert_failed(2, "--partition")


def test_skip_runs_nothing_and_shows_the_result(out):
    first = scored(out, *DAY)
    before = content(out)
    run = called(*ONE, "--output", out, *DAY, "--if_exists", "skip", "--format=json")
    assert (run.code, run.out) == (0, first)
    assert f"{out} already has the result, so nothing was scored" in run.err
    assert content(out) == before


def test_skip_still_judges(out):
    scored(out)
    before = content(out)
    run = called(*ONE, "--output", out, "--if_exists", "skip", "--fail_under", "99")
    assert run.code == 4
    assert run.out
    assert content(out) == before


@pytest.mark.parametrize("choice", ["skip", "fail"])
def test_without_a_complete_result_the_job_runs(out, choice):
    scored(out, *DAY, "--if_exists", choice)
    (out / "_SUCCESS").unlink()
    before = content(out)
    scored(out, *DAY, "--if_exists", choice)
    assert content(out) != before
    (out / "scores.json").write_text("{}")  # not that of the manifest
    scored(out, *DAY, "--if_exists", choice)
    assert_files(out)


@pytest.mark.parametrize(
    ("flags", "cause"),
    [
        (["--partition", "2026-11-22"], "evidence partition = 2026-11-22"),
        ([], "evidence partition = null"),
        ([*DAY, "-tok", "zh"], "metrics bleu text tokenize = zh"),
        ([*DAY, "--max_ngram_order", "3"], "max_ngram_order = 3"),
        ([*DAY, "--candidates", SYSTEMS["atlas"]], "systems 2 = atlas"),
        ([*DAY, "--slice_by", "length"], "slices items 1 1 = length"),
        ([*DAY, "--segment_scores"], "metrics bleu segments = null"),
        ([*DAY, "--compare_presets"], "metrics bleu presets sacrebleu name = bleu"),
        ([*DAY, "--save_totals"], "there is no totals.json"),
        ([*DAY, "--resample=bootstrap"], "resampling method = bootstrap"),
        ([*DAY, "--no_uncertainty"], "uncertainty = false"),
        ([*DAY, "--documents", DOCUMENTS], "documents = document"),
    ],
)
def test_skip_refuses_another_result(out, flags, cause):
    scored(out, *DAY)
    before = content(out)
    run = called(*ONE, "--output", out, *flags, "--if_exists", "skip")
    run.assert_failed(2, "already has a different result", cause)
    assert content(out) == before


@pytest.mark.parametrize(
    "flags",
    [
        ["--slice_by", "length"],
        ["--segment_scores", "--segment_smooth_method", "floor"],
        ["--compare_presets"],
        ["--effective_order", "--weights", "1,1,0,0"],
        ["--no_uncertainty"],
        ["--save_totals", "--resample", "bootstrap", "--resamples", "20", "--seed", "1"],
    ],
)
def test_skip_knows_its_own_result(out, flags):
    first = scored(out, *flags)
    assert scored(out, *flags, "--if_exists", "skip") == first
    called(*ONE, "--output", out, "--if_exists", "skip").assert_failed(2, "already has a different")


@pytest.fixture
def texts(tmp_path):
    """Files of a system and of references, and the arguments that score them."""
    folder = tmp_path / "texts"
    folder.mkdir()
    paths = [folder / "mt.txt", folder / "ref.txt"]
    for path, source in zip(paths, (SYSTEMS["birch"], REFERENCES[0]), strict=True):
        path.write_bytes(source.read_bytes())
    return *paths, streams([paths[0]], [paths[1]])


def test_skip_refuses_files_that_have_changed(out, texts):
    """It showed the score of the old texts."""
    candidates, references, given = texts
    first = called(*given, "--output", out, "--format=json")
    assert called(*given, "--output", out, "--format=json", "--if_exists=skip").out == first.out
    for path in (candidates, references):
        before = path.read_bytes()
        times = os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns
        path.write_bytes(before[::-1].replace(b"\n", b"", 1) + b"\n")  # as long as before
        os.utime(path, ns=times)
        run = called(*given, "--output", out, "--if_exists=skip")
        run.assert_failed(2, f"file {path.name} of", "--if_exists replace")
        path.write_bytes(before)
        called(*given, "--output", out, "--if_exists=replace")
    references.unlink()
    called(*given, "--output", out, "--if_exists=skip").assert_failed(2, "file ref.txt of")


def test_skip_refuses_other_files(out, texts):
    candidates, references, given = texts
    called(*given, "--output", out)
    other = references.with_name("other.txt")
    other.write_bytes(REFERENCES[1].read_bytes())
    for flags, cause in (
        (streams([candidates], [other]), f"references 1 = {other}"),
        (streams([candidates], [references, other]), f"references 2 = {other}"),
        ([*given, "--expect_segments=99"], "expected segments = 99"),
        ([*given, "--labels", f"a={DOCUMENTS}", "--documents=a"], "documents = a"),
    ):
        called(*flags, "--output", out, "--if_exists=skip").assert_failed(2, cause)


def test_a_file_that_a_pattern_did_not_match_before_is_new(out, texts):
    candidates, references, _ = texts
    given = streams([f"mt={candidates.parent}/mt*.txt"], [f"{references.parent}/ref*.txt"])
    called(*given, "--output", out)
    assert called(*given, "--output", out, "--if_exists=skip").code == 0
    candidates.with_name("mt2.txt").write_text("one more\n")
    run = called(*given, "--output", out, "--if_exists=skip")
    run.assert_failed(2, "only here: input 1 file mt2.txt of 9 bytes")


def test_skip_does_not_depend_on_the_folder_of_the_command(out, texts, monkeypatch):
    candidates, *_ = texts
    monkeypatch.chdir(candidates.parent)
    assert called("ref.txt", "-i", "mt.txt", "--output", out).code == 0
    monkeypatch.chdir(candidates.parent.parent)
    run = called("texts/ref.txt", "-i", "texts/mt.txt", "--output", out, "--if_exists=skip")
    assert run.code == 0, run.err


def test_skip_refuses_files_that_have_changed_places(out, tmp_path):
    hyp, ref = tmp_path / "a" / "text", tmp_path / "b" / "text"
    for path, line in ((hyp, "a b c d e"), (ref, "a b c d f")):
        path.parent.mkdir()
        path.write_text(f"{line}\n")
    flags = [ref, "-i", hyp, "--output", out, "--if_exists", "skip", "--no_uncertainty"]
    assert called(*flags).code == 0
    assert called(*flags).code == 0
    hyp.rename(tmp_path / "kept")
    ref.rename(hyp)
    (tmp_path / "kept").rename(ref)
    called(*flags).assert_failed(2, "file text of")


def test_skip_refuses_slices_whose_files_have_changed_places(out, tmp_path):
    folders = [tmp_path / name for name in ("news", "ted", "kept")]
    for folder, text in zip(folders[:2], ("a b c d", "a b c e"), strict=True):
        folder.mkdir()
        (folder / "x.tsv").write_text(f"hyp\tref\n{text}\ta b c d\n")
    flags = ["--input", f"{tmp_path}/*/x.tsv", "--label_from_path", f"dom={tmp_path}/(*)/"]
    flags += ["--slice_by", "dom", "--output", out, "--if_exists", "skip", "--no_uncertainty"]
    assert called(*flags).code == 0
    for old, new in ((0, 2), (1, 0), (2, 1)):
        folders[old].rename(folders[new])
    called(*flags).assert_failed(2, "file news/x.tsv of", "file ted/x.tsv of")


@pytest.mark.parametrize(
    ("there", "here", "cause"),
    [
        (["--where", "x=1"], ["--where", "x=2"], "where 1 value = 2"),
        (["--where", "x=1"], ["--where", "x!=1"], "where 1 negated = true"),
        ([], ["--where", "x=1"], "where 1 column text = x"),
        ([], ["--reference_columns", "ref2"], "references 1 = ref2"),
        ([], ["--on_bad_record", "reject"], "on_bad_record = reject"),
        (["--allow=other-documents"], [], "allow 1 = other-documents"),
    ],
)
def test_skip_refuses_other_records(out, tmp_path, there, here, cause):
    """With another --where, it showed the score of other records."""
    rows = [
        {"hyp": "a b c d", "ref": "a b c d", "ref2": f"a b {i}", "x": 1 + i % 2} for i in range(9)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ["--input", path, "--candidate_columns", "hyp", "--reference_columns", "ref"]
    assert called(*given, *there, "--output", out).code == 0
    assert called(*given, *there, "--output", out, "--if_exists=skip").code == 0
    run = called(*given, *here, "--output", out, "--if_exists=skip")
    run.assert_failed(2, "already has a different result", cause)


def test_skip_knows_nothing_of_pipes_and_of_older_results(out, texts):
    candidates, references, given = texts
    command = [*COMMAND, str(references), "--output", str(out), "--if_exists=skip"]
    for code in (0, 2):
        with candidates.open("rb") as stdin:
            done = subprocess.run(command, stdin=stdin, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    assert "candidates stdin is a pipe, whose text cannot be compared" in done.stderr
    called(*given, "--output", out)
    manifest = json.loads((out / "manifest.json").read_bytes())
    del manifest["request"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    run = called(*given, "--output", out, "--if_exists=skip")
    run.assert_failed(3, "does not have the content that this version")


TWO = streams([SYSTEMS["birch"], SYSTEMS["atlas"]], REFERENCES[:1])
COINS = ["--resample", "randomization", "--resamples", "9"]
BOTH_LABELS = ["--labels", f"document={DOCUMENTS}", "--labels", f"other={DOCUMENTS}"]
DOCUMENTS_ONLY = [*COINS, "--no_uncertainty", *BOTH_LABELS, "--segment_scores"]
LENGTHS = ["--slice_by", "length", "--length_edges"]


@pytest.mark.parametrize(
    ("there", "here", "cause"),
    [
        ([], ["--baseline=atlas"], "baseline = atlas"),
        ([], ["--compare=all"], "compare_all = true"),
        (["--compare=all"], [], "compare_all = false"),
        (
            [*COINS, "--no_uncertainty"],
            [*COINS, "--no_uncertainty", "--baseline=atlas"],
            "baseline = atlas",
        ),
        (
            [*DOCUMENTS_ONLY, "--documents=other"],
            [*DOCUMENTS_ONLY, "--documents=document"],
            "documents = document",
        ),
        ([*LENGTHS, "5,9"], [*LENGTHS, "8,9"], "length_edges 1 = 8"),
    ],
)
def test_skip_refuses_other_evidence(out, there, here, cause):
    assert called(*TWO, "--output", out, *there).code == 0
    run = called(*TWO, "--output", out, *here, "--if_exists=skip")
    run.assert_failed(2, "already has a different result", cause)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ([], ["--baseline=birch"]),
        (["--compare=all"], ["--compare=all", "--baseline=birch"]),
        ([*LENGTHS, "2,9", "--max_slices=50"], [*LENGTHS, "2,9"]),
        (["--documents", DOCUMENTS, *COINS], ["--documents", DOCUMENTS, *COINS]),
    ],
)
def test_skip_keeps_what_would_be_the_same(out, there, here):
    assert called(*TWO, "--output", out, *there).code == 0
    run = called(*TWO, "--output", out, *here, "--if_exists=skip", "--threads=2")
    assert run.code == 0, run.err
    assert "nothing was scored" in run.err


def test_skip_refuses_totals_of_another_result(out, tmp_path):
    scored(out, "--save_totals")
    other = tmp_path / "other"
    called(*streams([SYSTEMS["atlas"]], REFERENCES[:1]), "--output", other, "--save_totals")
    (out / "totals.json").write_bytes((other / "totals.json").read_bytes())
    run = called(*ONE, "--output", out, "--save_totals", "--if_exists", "skip")
    run.assert_failed(2, "there is no totals.json of this result")


@pytest.mark.parametrize(("field", "value"), [("streams", None), ("streams", [{}]), ("input", [1])])
def test_skip_refuses_a_manifest_of_another_form(out, field, value):
    scored(out)
    path = out / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), field: value}))
    run = called(*ONE, "--output", out, "--if_exists", "skip")
    run.assert_failed(3, "does not have the content that this version")


def test_fail(out):
    scored(out)
    before = content(out)
    run = called(*ONE, "--output", out, "--if_exists", "fail")
    run.assert_failed(1, "already has a complete result", "--if_exists")
    assert content(out) == before


@pytest.mark.parametrize("choice", ["skip", "fail"])
def test_a_failure_before_the_job_leaves_a_complete_result(out, tmp_path, choice):
    scored(out)
    before = content(out)
    gone = streams([tmp_path / "gone.txt"], REFERENCES[:1])
    run = called(*gone, "--output", out, "--if_exists", choice, "--max_drop=1", "--against=none")
    assert run.code == 3
    assert content(out) == before


def test_it_needs_a_folder():
    called(*ONE, "--if_exists", "skip").assert_failed(2, "--if_exists skip needs --output")
