"""Systems and references as in sacreBLEU: beam-bleu REF... -i FILE..."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from command_line import (
    COMMAND,
    EXAMPLE,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    called,
    streams,
    write_lines,
)
from memory_filesystem import OBJECTS

from beam_bleu.pipeline.command_line.options import parse

ATLAS, BIRCH, COBALT = SYSTEMS.values()
ONE_REFERENCE = called(*streams([ATLAS], REFERENCES[:1]))


def systems(*words) -> list[str]:
    return list(parse([str(word) for word in words]).job.source.systems)


def test_both_spellings_give_the_same_bytes():
    expected = called(*EXAMPLE, "--format", "json")
    assert expected.code == 0
    assert called(*REFERENCES, "-i", *SYSTEMS.values(), "-f", "json") == expected
    references = [word for path in REFERENCES for word in ("--references", path)]
    assert called(*references, "-i", *SYSTEMS.values(), "-f", "json") == expected


def test_a_pattern_makes_each_of_its_files_a_system_in_natural_order(tmp_path):
    for name in ("run-10.txt", "run-2.txt", "run-1.txt.gz"):
        (tmp_path / name).touch()
    (tmp_path / "folder.txt").mkdir()
    assert systems("r", "-i", tmp_path / "*.txt*") == ["run-1", "run-2", "run-10"]


def test_a_named_pattern_is_one_system(tmp_path):
    for number, start in enumerate((0, 40)):
        lines = ATLAS.read_text().splitlines(keepends=True)[start : start + 40]
        (tmp_path / f"part-{number}").write_text("".join(lines))
    run = called(REFERENCES[0], "-i", f"atlas={tmp_path}/part-*")
    assert run == ONE_REFERENCE


def test_a_pattern_of_references_is_one_stream(tmp_path):
    for number, start in enumerate((0, 40)):
        lines = REFERENCES[0].read_text().splitlines(keepends=True)[start : start + 40]
        (tmp_path / f"part-{number}").write_text("".join(lines))
    assert called(f"{tmp_path}/part-*", "-i", ATLAS) == ONE_REFERENCE


def test_a_pattern_on_another_filesystem_is_listed():
    for name in ("b-10.txt", "b-9.txt"):
        OBJECTS[f"mem://outputs/{name}"] = b"x\n", 1.0
    words = ["r", "-i", "mem://outputs/*.txt"]
    source = parse(words).job.source
    assert source.systems == ("b-9", "b-10")
    assert source.candidates[0].pattern == "mem://outputs/b-9.txt"


def test_a_pattern_without_a_match_is_missing_input(tmp_path):
    run = called("r", "-i", tmp_path / "*.txt")
    run.assert_failed(3, f"-i: nothing matches {tmp_path}/*.txt")


def test_a_file_whose_name_is_a_pattern_is_not_mistaken_for_another(tmp_path):
    # On an object store a[1].txt would also mean a1.txt.
    for name in ("a[1].txt", "b.txt"):
        (tmp_path / name).touch()
    run = called("r", "-i", tmp_path / "*.txt")
    run.assert_failed(2, "the name of a file has wildcards", f"{tmp_path}/a[1].txt", "rename")


def test_files_with_the_same_stem_need_names(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(ATLAS, tmp_path / folder / "hyp.txt")
    one, other = tmp_path / "a/hyp.txt", tmp_path / "b/hyp.txt"
    expected = f"two systems are called hyp: {one}, {other}"
    called("r", "-i", one, other).assert_failed(2, expected, f"-i hyp-2={other}")
    called("r", "-i", tmp_path / "*" / "hyp.txt").assert_failed(2, expected, "-i NAME=PATTERN")
    assert systems("r", "-i", one, f"hyp-2={other}") == ["hyp", "hyp-2"]


@pytest.mark.parametrize("words", [[], ["-i", "-"]], ids=" ".join)
def test_stdin_is_the_system_without_systems(words):
    with ATLAS.open("rb") as stdin:
        done = subprocess.run(
            [*COMMAND, REFERENCES[0], *words], stdin=stdin, cwd=PROJECT, capture_output=True
        )
    expected = called(REFERENCES[0], "-i", f"stdin={ATLAS}")
    assert (done.returncode, done.stdout, done.stderr) == (0, expected.out, b"")


def test_a_pipe_of_the_shell_is_called_pipe():
    program = (
        "import sys; from beam_bleu.pipeline.command_line.options import parse; "
        "print(*parse(['r', '-i', sys.argv[1]]).job.source.systems)"
    )
    script = '"$0" -c "$1" <(echo x)'
    words = ["bash", "-c", script, sys.executable, program]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True)
    assert done.stdout == "pipe\n", done.stderr


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["r", "-i", "a", "--candidates", "b"], ["-i and --candidates", "both name systems"]),
        (["r", "--references", "s", "-i", "a"], ["'r'", "with --references", "in quotes"]),
        (["--candidates", "a", "b"], ["'b'", "with --candidates", "in quotes"]),
        (["-i", "a", "b"], ["the references are missing", "before -i"]),
        (["-lc"], ["--candidates is missing"]),
        (["r", "-i"], ["-i", "expected at least one argument"]),
        (["r", "-i", ""], ["-i", "is empty"]),
        (["", "-i", "a"], ["REF is empty"]),
        (
            ["r", "--input", "a"],
            ["'r': with --input, it cannot", "for line-parallel text write -i: beam-bleu r -i a"],
        ),
        (["r", "-i", "-", "-"], ["stdin can be read only once", "it is given twice"]),
        (["r", "-i", "a=-", "/dev/stdin"], ["stdin can be read only once", "candidates a and for"]),
        (
            ["r", "-i", "a", "--compare_presets", "b"],
            ["'b' after --compare_presets", "same or all"],
        ),
        (["r", "-e", "latin1"], ["--encoding latin1", "iconv -f latin1 -t utf-8 FILE > NEW"]),
        (
            ["r", "-e", "a b"],
            ["--encoding a b", "no such encoding", "remove --encoding: the files must be UTF-8"],
        ),
        (["r", "-m", "bleu", "meteor"], ["--metrics meteor", "bleu, chrf, ter"]),
        (["r", "-m", "bleu", "chrf", "bleu"], ["--metrics bleu chrf bleu", "only once"]),
        (["-m", "bleu", "r", "-i", "a"], ["--metrics r", "references come before -m"]),
    ],
    ids=lambda words: " ".join(words),
)
def test_what_cannot_be_meant_is_refused(words, fragments):
    called(*words).assert_failed(2, *fragments)


def test_a_file_whose_name_looks_like_a_named_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "r", ["a b c d"])
    write_lines(tmp_path / "a=b", ["a b c d"])
    called("r", "-i", "a=b").assert_failed(2, "the system a and the file b", "write ./a=b")
    assert called("r", "-i", "./a=b", "-b").out == b"100.0\n"
    write_lines(tmp_path / "b", ["a b c e"])
    expected = "write ./a=b for the file, or a=./b for the system"
    called("r", "-i", "a=b").assert_failed(2, "can be the file of this name, or the s", expected)
    named = called("--candidates", "a=b", "--references", "r")
    named.assert_failed(2, "can be the file of this name, or the system a", expected)
    assert systems("r", "-i", "a=./b") == ["a"]
    assert systems("r", "-i", "./a=b") == ["a=b"]


def test_a_pattern_leaves_out_the_files_of_other_streams(tmp_path, monkeypatch):
    """Else the references are the best system."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(REFERENCES[0], "ref.txt")
    shutil.copy(ATLAS, "atlas.txt")
    (tmp_path / "labels.txt").write_text("x\n" * len(REFERENCES[0].read_bytes().splitlines()))
    (tmp_path / "outputs").mkdir()
    shutil.copy(ATLAS, "outputs/birch.txt")
    (tmp_path / "outputs" / "hard.txt").hardlink_to("ref.txt")
    (tmp_path / "outputs" / "soft.txt").symlink_to("../ref.txt")
    labels = ["--labels", "domain=labels.txt", "--slice_by=domain"]
    run = called("ref.txt", *labels, "-i", "*.txt", "--format=json")
    assert [each["system"] for each in run.document["scores"] if not each["slice"]] == ["atlas"]
    assert (
        "beam-bleu: warning: -i: *.txt also matches labels.txt (labels domain), ref.txt "
        "(references): not scored as the output of a system\n"
    ) in run.err
    run = called("r?f.txt", "-i", "outputs/*.txt", "--format=json")
    assert [each["system"] for each in run.document["scores"]] == ["birch"]
    assert "outputs/hard.txt (references), outputs/soft.txt (references): not scored" in run.err
    called("ref.txt", "-i", "outputs/[hs]*.txt").assert_failed(2, "matches only the files of")
    # A name has no wildcard, so this is a pattern, too.
    shutil.copy(ATLAS, "beam=5.txt")
    assert systems("ref.txt", "-i", "*=*.txt") == ["beam=5"]
    # A file that is named is scored.
    assert systems("ref.txt", "-i", "ref.txt") == ["ref"]


def test_a_pattern_in_a_folder_with_an_equals_sign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("d=1", "1", "e=2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "5.txt").write_text(f"the text of {folder}\n")
    (tmp_path / "ref.txt").write_text("the text of d=1\n")
    both = called("ref.txt", "-i", "d=1/*.txt")
    both.assert_failed(2, "the pattern of this name, or the system d", "./d=1/*.txt", "d=./1/*.txt")
    other = called("ref.txt", "-i", "e=2/*.txt")
    other.assert_failed(2, "the pattern 2/*.txt, which matches nothing", "./e=2/*.txt")
    assert called("ref.txt", "-i", "./d=1/*.txt").code == 0
    assert called("ref.txt", "-i", "x=d=1/*.txt").code == 0


def test_a_pattern_of_a_system_that_matches_a_reference(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.txt").write_text("the text\n")
    for flags in (["ref.txt", "-i", "x=r*.txt"], ["--references=ref.txt", "--candidates=x=r*.txt"]):
        called(*flags).assert_failed(2, "x=r*.txt: the pattern also matches ref.txt (references)")
