"""Systems and references as in sacreBLEU, and their names, which can be shown in any locale."""

from __future__ import annotations

import shutil

from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, write_lines, write_records
from memory_filesystem import OBJECTS

from beam_bleu.pipeline.command_line.options import parse

ATLAS, BIRCH, COBALT = SYSTEMS.values()


def systems(*words) -> list[str]:
    return list(parse([str(word) for word in words]).job.source.systems)


def test_a_pattern_makes_each_of_its_files_a_system_in_natural_order(tmp_path):
    for name in ("run-10.txt", "run-2.txt", "run-1.txt.gz"):
        (tmp_path / name).touch()
    (tmp_path / "folder.txt").mkdir()
    assert systems("r", "-i", tmp_path / "*.txt*") == ["run-1", "run-2", "run-10"]
    for name in ("b-10.txt", "b-9.txt"):
        OBJECTS[f"mem://outputs/{name}"] = b"x\n", 1.0
    source = parse(["r", "-i", "mem://outputs/*.txt"]).job.source
    assert source.systems == ("b-9", "b-10")
    assert source.candidates[0].pattern == "mem://outputs/b-9.txt"


def test_files_with_the_same_stem_need_names(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(ATLAS, tmp_path / folder / "hyp.txt")
    one, other = tmp_path / "a/hyp.txt", tmp_path / "b/hyp.txt"
    for words in ([one, other], [tmp_path / "*" / "hyp.txt"]):
        expected = f"two systems are called hyp: {one}, {other}"
        called("r", "-i", *words).assert_failed(2, expected, "-i NAME=PATTERN")
    assert systems("r", "-i", one, f"hyp-2={other}") == ["hyp", "hyp-2"]


def test_a_file_whose_name_looks_like_a_named_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "r", ["a b c d"])
    write_lines(tmp_path / "a=b", ["a b c d"])
    called("r", "-i", "a=b").assert_failed(3, "there is no file b")
    assert called("r", "-i", "./a=b", "-b").out == b"100.0\n"
    assert systems("r", "-i", "./a=b") == ["a=b"]


def test_a_pattern_leaves_out_the_files_of_other_streams(tmp_path, monkeypatch):
    """Else the references are the best system."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ATLAS, "atlas.txt")
    shutil.copy(REFERENCES[0], "ref.txt")
    write_lines(tmp_path / "labels.txt", ["x"] * 72)
    run = called("r?f.txt", "--labels=d=labels.txt", "--slice_by=d", "-i", "*.txt", "-f=json")
    assert [each["system"] for each in run.document["scores"] if not each["slice"]] == ["atlas"]
    assert (
        "beam-bleu: warning: -i: *.txt also matches labels.txt (labels d), ref.txt (references): "
        "not scored as the output of a system\n"
    ) in run.err
    (tmp_path / "outputs").mkdir()
    shutil.copy(BIRCH, "outputs/birch.txt")
    (tmp_path / "outputs" / "soft.txt").symlink_to("../ref.txt")
    assert systems("ref.txt", "-i", "outputs/*.txt") == ["birch"]
    called("ref.txt", "-i", "outputs/s*.txt").assert_failed(3, "-i: nothing else matches")
    # A name has no wildcard, so this is a pattern, too.
    shutil.copy(ATLAS, "beam=5.txt")
    assert systems("ref.txt", "-i", "*=*.txt") == ["beam=5"]
    # A file that is named is scored.
    assert systems("ref.txt", "-i", "ref.txt") == ["ref"]


def test_names_are_visible_and_need_only_look_different(tmp_path):
    for name in (" ", " x", "x ", "x\u200b", "x\u202ey", "x\x9b2J"):
        run = called(*EXAMPLE, "--candidates", f"{name}={ATLAS}")
        run.assert_failed(2, f"the system name {name!r} cannot be shown", "NAME=PATTERN")
    names = ["größe", "grosse", "x y", "x  y", "東京", "❤\ufe0f", "x²", "x2", "X", "x"]
    flags = [word for name in names for word in ("--candidates", f"{name}={ATLAS}")]
    document = called(*flags, "--references", REFERENCES[0], "--format", "json").document
    assert [score["system"] for score in document["scores"]] == names
    texts = {"id": 1, "candidate": "a b c d", "reference": "a b c e"}
    long = [{**texts, "model": name} for name in ("x", "a\x1b[31mb")]
    path = write_records(tmp_path / "long.jsonl", long)
    run = called("--input", path, "--system_column", "model", "--id_column", "id")
    run.assert_failed(3, "line 2: ", r"the system name 'a\x1b[31mb'", str(path))
    path = write_records(tmp_path / "wide.jsonl", [{"hyp_ ": "a b", "ref": "a b"}])
    run = called("--input", path, "--reference_columns=ref", "--candidate_columns=hyp_*")
    run.assert_failed(3, "the system name 'hyp_ '", "NAME=COLUMN")
