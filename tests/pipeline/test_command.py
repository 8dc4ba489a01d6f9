"""The command as users type it: its numbers, its flags, its refusals and its exit codes."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command_line import (
    COMMAND,
    COMPRESS,
    EXAMPLE,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Run,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    typed,
    write_lines,
)
from sacrebleu.metrics import BLEU

from transforms.version import VERSION

ATLAS, BIRCH, COBALT = SYSTEMS.values()
EXAMPLE_CANDIDATES = [read_lines(path) for path in SYSTEMS.values()]
EXAMPLE_REFERENCES = [read_lines(path) for path in REFERENCES]

# Short texts, so that orders are without matches or without n-grams, where smoothing decides.
SHORT_CANDIDATES = [["the cat", "A dog barks .", ""], ["a b", "c", "d e"]]
SHORT_REFERENCES = [["the cat sat", "a dog barked .", "nothing"]]


@pytest.fixture
def short(tmp_path) -> list[str | Path]:
    systems = [
        write_lines(tmp_path / f"system{i}.txt", lines) for i, lines in enumerate(SHORT_CANDIDATES)
    ]
    return streams(systems, [write_lines(tmp_path / "reference.txt", SHORT_REFERENCES[0])])


# What it prints


@pytest.mark.parametrize("tokenize", ["13a", "none"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_scores_equal_sacrebleus(tokenize, lowercase):
    flags = ["--tokenize", tokenize, *(["--lowercase"] if lowercase else [])]
    run = typed(*EXAMPLE, *flags, "--format", "json")
    assert run.err == ""
    assert_equals_sacrebleu(
        run.document,
        EXAMPLE_CANDIDATES,
        EXAMPLE_REFERENCES,
        tokenize=tokenize,
        lowercase=lowercase,
    )


CHOICES = [
    {"smooth_method": "exp"},
    {"smooth_method": "floor"},
    {"smooth_method": "floor", "smooth_value": 0.25},
    {"smooth_method": "add-k"},
    {"smooth_method": "add-k", "smooth_value": 0.5},
    {"smooth_method": "none"},
    {"max_ngram_order": 1},
    {"max_ngram_order": 2},
    {"max_ngram_order": 6},
    {"effective_order": True},
    {"effective_order": True, "max_ngram_order": 6, "smooth_method": "floor"},
    {"lowercase": True, "tokenize": "none", "max_ngram_order": 2, "smooth_method": "add-k"},
]


def as_flags(choices: dict[str, object]) -> list[str]:
    return [
        f"--{name}" if value is True else f"--{name}={value}" for name, value in choices.items()
    ]


@pytest.mark.parametrize("choices", CHOICES, ids=lambda choices: " ".join(as_flags(choices)))
def test_every_choice_means_what_it_means_to_sacrebleu(choices, short):
    run = called(*EXAMPLE, *as_flags(choices), "--format", "json")
    assert_equals_sacrebleu(run.document, EXAMPLE_CANDIDATES, EXAMPLE_REFERENCES, **choices)
    run = called(*short, *as_flags(choices), "--format", "json")
    assert_equals_sacrebleu(run.document, SHORT_CANDIDATES, SHORT_REFERENCES, **choices)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"lowercase": True, "smooth_method": "floor"},
        {"tokenize": "none", "effective_order": True},
    ],
)
def test_the_signature_is_sacrebleus_with_our_version(choices):
    bleu = BLEU(**choices)
    bleu.corpus_score(EXAMPLE_CANDIDATES[0], EXAMPLE_REFERENCES)
    sacrebleus, _, _ = bleu.get_signature().format().rpartition("|")
    run = called(*EXAMPLE, *as_flags(choices), "--format", "json")
    assert run.document["signature"] == f"{sacrebleus}|version:beam-bleu-{VERSION}"


def test_the_table_has_sacrebleus_line_for_each_system():
    run = typed(*EXAMPLE)
    assert (run.code, run.err) == (0, "")
    title, segments, blank, header, *rows = run.out.decode().splitlines()
    assert title == (
        f"BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-{VERSION}"
    )
    assert (segments, blank) == ("72 segments", "")
    assert header.split() == ["system", "BLEU", "precisions", "BP", "ratio", "hyp_len", "ref_len"]
    assert len(rows) == len(SYSTEMS)
    for row, name, candidate in zip(rows, SYSTEMS, EXAMPLE_CANDIDATES, strict=True):
        score = BLEU(force=True).corpus_score(candidate, EXAMPLE_REFERENCES)
        assert row.split() == [
            name,
            f"{score.score:.1f}",
            "/".join(f"{precision:.1f}" for precision in score.precisions),
            f"{score.bp:.3f}",
            f"{score.ratio:.3f}",
            str(score.sys_len),
            str(score.ref_len),
        ]


def test_output_gets_the_bytes_that_json_shows(tmp_path):
    folder = tmp_path / "new" / "folder"
    run = typed(*EXAMPLE, "--format", "json", "--output", folder)
    assert run.code == 0, run.err
    assert (folder / "scores.json").read_bytes() == run.out
    assert os.listdir(folder) == ["scores.json"]
    assert json.loads(run.out)["segments"] == 72


def test_output_may_go_with_the_table_and_replaces_an_older_result(tmp_path):
    (tmp_path / "scores.json").write_bytes(b"older")
    run = called(*EXAMPLE, "--output", tmp_path)
    assert run.out == called(*EXAMPLE).out
    in_json = called(*EXAMPLE, "--format", "json").out
    assert (tmp_path / "scores.json").read_bytes() == in_json


def test_output_may_be_relative_to_the_folder_one_is_in(tmp_path):
    run = subprocess.run(
        [*COMMAND, *EXAMPLE, "--output", "out"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "out" / "scores.json").is_file()


# How streams are named


def systems_of(run: Run) -> list[str]:
    return [score["system"] for score in run.document["scores"]]


def test_systems_stand_in_the_order_given():
    orders = list(itertools.permutations(SYSTEMS))
    alone = {
        name: called(*streams([path], REFERENCES, "--format", "json")).document["scores"][0]
        for name, path in SYSTEMS.items()
    }
    for order in orders[2:5]:
        given = [SYSTEMS[name] for name in order]
        run = called(*streams(given, REFERENCES, "--format", "json"))
        assert run.document["scores"] == [alone[name] for name in order]


@pytest.mark.parametrize(
    ("file", "given", "name"),
    [
        ("LIUM.txt", "{}", "LIUM"),
        ("LIUM.txt.gz", "{}", "LIUM"),  # the compression suffix, then one extension
        ("LIUM.gz", "{}", "LIUM"),
        ("LIUM.zst", "{}", "LIUM"),
        ("hyp.LIUM.txt", "{}", "hyp.LIUM"),  # one extension only
        ("LIUM", "{}", "LIUM"),
        ("größe.txt", "{}", "größe"),
        ("LIUM.txt", "best={}", "best"),
        ("LIUM.txt", "a b.c={}", "a b.c"),
        ("dt=2026-11-19/hyp.txt", "{}", "hyp"),  # a NAME has no slash, so this is a path
        ("dt=2026-11-19/hyp.txt", "best={}", "best"),  # the first = ends the NAME
        ("shards/part-1.txt", "best={dir}/part-*.txt", "best"),
        ("shards/part-1.txt", "best={dir}/part-[0-9].tx?", "best"),
    ],
)
def test_a_system_is_called_by_its_name_or_its_files_stem(tmp_path, file, given, name):
    path = write_lines(tmp_path / file, ["a b c"])
    reference = write_lines(tmp_path / "reference", ["a b c"])
    given = given.format(path, dir=path.parent)
    assert systems_of(called(*streams([given], [reference], "--format", "json"))) == [name]


def test_a_file_name_that_is_not_utf8_is_scored_or_refused_before_the_job(tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    shutil.copy(ATLAS, path)
    assert called(*streams([b"cafe=" + path], REFERENCES, "--format", "json")).code == 0
    run = called(*streams([path], REFERENCES, "--format", "json"))
    if run.code:
        run.assert_failed(2, "caf")


@pytest.mark.parametrize(
    "flags",
    [
        ["--smooth-method", "floor", "--max-ngram-order", "2", "--effective-order"],
        ["--smooth-method=floor", "--max-ngram-order=2", "--effective_order"],
        ["--smooth_method=floor", "--max-ngram_order", "2", "--effective-order"],
    ],
)
def test_hyphens_may_stand_for_underscores(flags):
    plain = ["--smooth_method", "floor", "--max_ngram_order", "2", "--effective_order"]
    expected = called(*EXAMPLE, *plain).out
    assert b"smooth:floor[0.10]|order:2" in expected
    assert called(*EXAMPLE, *flags).out == expected


def test_hyphens_are_accepted_in_beams_flags():
    assert called(*EXAMPLE, "--direct-num-workers=1", "--job-name", "bleu").code == 0


@pytest.mark.parametrize(
    "runner", ["DirectRunner", "directrunner", "direct", "FnApiRunner", "SwitchingDirectRunner"]
)
def test_the_runners_that_are_our_in_process_one(runner):
    assert called(*EXAMPLE, "--runner", runner).out == called(*EXAMPLE).out


def test_direct_runner_as_typed():
    run = typed(*EXAMPLE, "--runner", "DirectRunner")
    assert (run.code, run.err) == (0, "")
    assert run.out == called(*EXAMPLE).out


def test_what_only_an_engine_knows_goes_behind_two_hyphens():
    assert called(*EXAMPLE, "--", "--some_engine_option=3").out == called(*EXAMPLE).out


CONTRACT_FLAGS = [
    "candidates",
    "references",
    "tokenize",
    "lowercase",
    "smooth_method",
    "smooth_value",
    "max_ngram_order",
    "effective_order",
    "format",
    "output",
]


def test_help_names_every_flag():
    run = typed("--help")
    assert (run.code, run.err) == (0, "")
    for flag in CONTRACT_FLAGS:
        assert f"--{flag}" in run.out.decode()


def test_version():
    assert typed("--version") == Run(0, f"beam-bleu {VERSION}\n".encode(), "")


# Exit code 2: impossible before anything runs

USAGE_ERRORS = [
    (["--smoth_method", "exp"], ["unknown flag --smoth_method", "did you mean --smooth_method?"]),
    (["--smoth-method=exp"], ["unknown flag --smoth-method", "--smooth_method?"]),
    (["--zzz"], ["unknown flag --zzz"]),
    (["-x"], ["unknown flag -x"]),
    (["--flink_mastr=x"], ["unknown flag --flink_mastr", "--flink_master?"]),
    (["--cand", "a.txt"], ["unknown flag --cand", "--candidates?"]),  # no abbreviations
    (["--refer=a.txt"], ["unknown flag --refer", "--references?"]),
    (["--lower"], ["unknown flag --lower", "--lowercase?"]),
    (["--tokenize", "14a"], ["--tokenize", "14a", "13a", "none"]),
    (["--smooth_method", "expo"], ["--smooth_method", "expo", "exp", "floor", "add-k", "none"]),
    (["--format", "xml"], ["--format", "xml", "text", "json"]),
    (["--max_ngram_order", "0"], ["max_ngram_order must be 1 to 16, got 0"]),
    (["--max_ngram_order", "17"], ["max_ngram_order must be 1 to 16, got 17"]),
    (["--max_ngram_order", "four"], ["--max_ngram_order", "four"]),
    (["--smooth_value", "0.1"], ["smooth_value 0.1 means nothing to smooth_method 'exp'"]),
    (
        ["--smooth_method", "none", "--smooth_value", "0.1"],
        ["smooth_value 0.1 means nothing to smooth_method 'none'"],
    ),
    (["--smooth_method", "floor", "--smooth_value", "-1"], ["must be 0 to 1000000, got -1"]),
    (["--smooth_method", "floor", "--smooth_value", "nan"], ["must be 0 to 1000000, got nan"]),
    (["--smooth_method", "add-k", "--smooth_value", "inf"], ["must be 0 to 1000000, got inf"]),
    (["--smooth_method", "floor", "--smooth_value", "x"], ["--smooth_value", "'x'"]),
    (["--threads", "0"], ["--threads", "at least 1, got 0"]),
    (["--range_bytes", "15"], ["--range_bytes must be 16 to 1099511627776, got 15"]),
    (["--lowercase=no"], ["--lowercase", "'no'"]),
    (["--candidates"], ["--candidates", "expected one argument"]),
    (["--candidates", str(ATLAS)], ["two systems are called atlas", "NAME=PATTERN"]),
    (["--candidates", f"birch={ATLAS}"], ["two systems are called birch", "NAME=PATTERN"]),
    (["--candidates", f"={ATLAS}"], ["the system name '' cannot be shown", "NAME=PATTERN"]),
    (["--candidates", f"two\nlines={ATLAS}"], ["the system name 'two\\nlines'"]),
    (["--candidates", f"\x1b[2J={ATLAS}"], ["the system name '\\x1b[2J'"]),  # clears a screen
    (["--candidates", "/tmp/h\udcff.txt"], ["the system name 'h\\udcff'"]),  # not UTF-8
    (["--candidates", "/tmp/.zst"], ["the system name ''"]),
    (["--candidates", "name="], ["--candidates is empty"]),
    (["--references", ""], ["--references is empty"]),
    (["--output", ""], ["--output is empty"]),  # --output "$UNSET"
    (["--references", "nope://host/file"], ["nope://host/file: there is no such filesystem"]),
    (["--", "--runner", "DaskRunner"], ["--runner stands behind --"]),
    (["--", "--lower-case", "--threads=2"], ["--threads=2 stands behind --"]),
    (["--smooth_method", "add-k", "--smooth_value", "1e308"], ["0 to 1000000, got 1e+308"]),
    (["--range_bytes", "1" + "0" * 30], ["--range_bytes must be 16 to 1099511627776"]),
    (["--candidates", "/data/part-*"], ["/data/part-*", "NAME=PATTERN"]),  # no stem to name it by
    (["--candidates", "part-?"], ["part-?", "NAME=PATTERN"]),
    (["--candidates", "part-[0-9]"], ["part-[0-9]", "NAME=PATTERN"]),
    (["extra.txt"], ["unexpected argument 'extra.txt'", "--candidates and --references"]),
    (["--runner", "DaskRunner"], ["DaskRunner is refused", "lost without an error"]),
    (["--runner", "dask"], ["dask is refused"]),
    (["--runner", "FastRunner"], ["FastRunner: there is no such runner", "FlinkRunner"]),
    (["--runner", "FlinkRunner"], ["FlinkRunner needs --output"]),  # nobody would see the result
    (["--runner", "dataflow"], ["dataflow needs --output"]),
    (["--num_workers", "many"], ["--num_workers", "many"]),  # a flag of Beam's
    (["--references", str(PROJECT)], ["references 3", "is a folder", f"{PROJECT}/*"]),
    (["--candidates", f"x={PROJECT}/"], ["candidates x", "is a folder", f"{PROJECT}/*"]),
    (["--references", "/dev/null"], ["references 3: /dev/null", "save it to a file"]),
    (["--output", str(ATLAS)], ["--output", "is a file", "name a folder"]),
]


@pytest.mark.parametrize(
    ("flags", "fragments"), USAGE_ERRORS, ids=[" ".join(row[0]) for row in USAGE_ERRORS]
)
def test_what_is_impossible_is_refused_with_the_value_and_the_choices(flags, fragments):
    called(*EXAMPLE, *flags).assert_failed(2, *fragments)


@pytest.mark.parametrize("flag", ["--threads", "--range_bytes"])
def test_a_number_that_is_none_is_told_in_the_users_words(flag):
    run = called(*EXAMPLE, flag, "many")
    run.assert_failed(2, flag, "many")
    assert "_positive" not in run.err  # a name from inside the program


@pytest.mark.parametrize("missing", ["candidates", "references"])
def test_streams_that_are_not_given_are_named(missing):
    given = "candidates" if missing == "references" else "references"
    called(f"--{given}", ATLAS).assert_failed(2, f"--{missing} is missing")


def test_an_unknown_flag_as_typed(tmp_path):
    run = typed(*EXAMPLE, "--smoth_method", "exp", "--output", tmp_path / "out")
    run.assert_failed(2, "unknown flag --smoth_method", "did you mean --smooth_method?")
    assert not (tmp_path / "out").exists()


def test_no_arguments_as_typed():
    typed().assert_failed(2, "--candidates is missing")


@pytest.mark.parametrize("stream", ["--references", "--candidates"])
def test_a_pipe_can_be_read_only_once(tmp_path, stream):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    called(*EXAMPLE, stream, pipe).assert_failed(2, str(pipe), "save it to a file")


def test_a_pipe_among_the_files_of_a_pattern_does_not_hang(tmp_path):
    shutil.copy(ATLAS, tmp_path / "part-1")
    os.mkfifo(tmp_path / "part-2")
    try:
        run = typed(*EXAMPLE, "--candidates", f"x={tmp_path}/part-*", timeout=15)
    except subprocess.TimeoutExpired:
        pytest.fail("the command waits for somebody to write to the pipe")
    assert run.code in (2, 3)
    run.assert_failed(run.code, "part-2")


def test_process_substitution_as_typed():
    words = [*COMMAND, "--candidates", ATLAS, "--references"]
    script = 'exec "$@" <(cat "$0")'
    process = subprocess.run(
        ["bash", "-c", script, REFERENCES[0], *words],
        cwd=PROJECT,
        capture_output=True,
        text=False,
        timeout=120,
    )
    run = Run(process.returncode, process.stdout, process.stderr.decode())
    run.assert_failed(2, "references: /dev/fd/", "save it to a file")


def test_shards_out_of_order_are_refused(tmp_path):
    lines = read_lines(ATLAS)
    write_lines(tmp_path / "part-2", lines[:30])
    write_lines(tmp_path / "part-10", lines[30:])
    run = typed(*streams([f"x={tmp_path}/part-*"], REFERENCES, "--output", tmp_path))
    run.assert_failed(2, "candidates x: by name", "part-10 comes before", "leading zeros")
    assert not (tmp_path / "scores.json").exists()


# Exit code 3: the input is missing, unreadable, truncated or bad


def truncated(suffix: str) -> bytes:
    return COMPRESS[suffix](ATLAS.read_bytes())[:-40]


def with_bad_line(number: int, line: bytes) -> bytes:
    lines = ATLAS.read_bytes().split(b"\n")
    lines[number - 1] = line
    return b"\n".join(lines)


BAD_INPUTS = [
    # the file's name, its bytes (None: no file), what the message says
    ("bad.txt", None, ["candidates bad: nothing matches {path}"]),
    ("folder/bad.txt", None, ["candidates bad: nothing matches {path}"]),
    ("bad.txt", b"", ["candidates bad ({path}): 0", "references 1 ({reference}): 72"]),
    (
        "bad.txt",
        b"one\ntwo\n",
        ["candidates bad ({path}): 2", "references 1 ({reference}): 72", "candidates atlas"],
    ),
    (
        "bad.txt",
        with_bad_line(33, b"na\xefve"),
        ["candidates bad: {path}: line 33: invalid UTF-8 at byte 3 of the line (0xef)"],
    ),
    (
        "bad.txt.gz",
        COMPRESS[".gz"](with_bad_line(72, b"\xff")),
        ["candidates bad: {path}: line 72: invalid UTF-8 at byte 1 of the line (0xff)"],
    ),
    ("bad.txt.gz", truncated(".gz"), ["candidates bad: {path}: truncated"]),
    ("bad.txt.bz2", truncated(".bz2"), ["candidates bad: {path}: truncated"]),
    ("bad.txt.xz", truncated(".xz"), ["candidates bad: {path}: truncated"]),
    ("bad.txt.zst", truncated(".zst"), ["candidates bad: {path}: truncated"]),
    ("bad.txt.gz", b"", ["candidates bad: {path}: the file is empty, not .gz data"]),
    ("bad.txt.gz", ATLAS.read_bytes(), ["candidates bad: {path}: bad .gz data"]),
    (
        "bad.txt.gz",
        COMPRESS[".gz"](ATLAS.read_bytes()) + b"garbage",
        ["candidates bad: {path}: bad .gz data"],
    ),
]


@pytest.mark.parametrize(
    ("name", "data", "fragments"),
    BAD_INPUTS,
    ids=[f"{name}-{fragments[0].partition('{path}')[2]}" for name, _, fragments in BAD_INPUTS],
)
def test_bad_input_gives_no_score(tmp_path, name, data, fragments):
    path, output = tmp_path / name, tmp_path / "out"
    if data is not None:
        path.write_bytes(data)
    run = typed(*streams([ATLAS, path], REFERENCES, "--output", output))
    expected = [fragment.format(path=path, reference=REFERENCES[0]) for fragment in fragments]
    run.assert_failed(3, *expected)
    assert not (output / "scores.json").exists()


def test_bad_input_leaves_an_older_result_as_it_is(tmp_path):
    scores = tmp_path / "scores.json"
    scores.write_bytes(b"older")
    os.utime(scores, ns=(10**18, 10**18))
    for path in ("missing.txt", tmp_path / "bad.txt"):
        (tmp_path / "bad.txt").write_bytes(with_bad_line(5, b"\xff"))
        called(*EXAMPLE, "--candidates", path, "--output", tmp_path).assert_failed(3)
        assert scores.read_bytes() == b"older"
        assert scores.stat().st_mtime_ns == 10**18
        assert sorted(os.listdir(tmp_path)) == ["bad.txt", "scores.json"]


def test_a_pattern_that_matches_nothing(tmp_path):
    run = typed(*streams([ATLAS], [REFERENCES[0], f"{tmp_path}/part-*"], "--format", "json"))
    run.assert_failed(3, f"references 2: nothing matches {tmp_path}/part-*")


def test_an_empty_corpus(tmp_path):
    empty = write_lines(tmp_path / "empty.txt", [])
    called(*streams([empty], [empty])).assert_failed(3, "the corpus is empty", str(empty))


def test_a_file_that_cannot_be_read(tmp_path):
    locked = tmp_path / "locked.txt"
    shutil.copy(ATLAS, locked)
    locked.chmod(0)
    # Nothing is locked to root, but a file has no files even for root.
    unreadable = locked if os.geteuid() else Path("/etc/passwd/x")
    typed(*streams([unreadable], REFERENCES)).assert_failed(3, "candidates", str(unreadable))


@pytest.mark.parametrize("suffix", COMPRESS)
def test_invalid_utf8_in_a_shard_is_told_with_the_line_of_the_shard(tmp_path, suffix):
    lines = with_bad_line(50, b"ab\xe9").split(b"\n")
    for number, part in enumerate((lines[:30], lines[30:72])):
        text = b"".join(line + b"\n" for line in part)
        (tmp_path / f"part-{number}{suffix}").write_bytes(COMPRESS[suffix](text))
    run = called(*streams([f"x={tmp_path}/part-*"], REFERENCES))
    run.assert_failed(3, f"{tmp_path}/part-1{suffix}: line 20: invalid UTF-8 at byte 3")


def test_the_cause_is_in_our_words_alone(tmp_path):
    # Beam adds "[while running '...']" to the messages of a worker.
    for candidate, message in (
        ("missing.txt", "beam-bleu: candidates missing: nothing matches missing.txt"),
        (write_lines(tmp_path / "two.txt", ["a"]), f"; candidates two ({tmp_path}/two.txt): 1"),
    ):
        run = called(*streams([candidate], REFERENCES))
        run.assert_failed(3)
        assert run.err.splitlines()[0].endswith(message)


def test_verbose_shows_the_traceback_and_then_cause_and_remedy():
    run = typed(*EXAMPLE, "--candidates", "missing.txt", "--verbose")
    assert (run.code, run.out) == (3, b"")
    assert "Traceback (most recent call last)" in run.err
    cause, remedy = run.err.splitlines()[-2:]
    assert cause.startswith("beam-bleu: candidates missing: nothing matches missing.txt")
    assert remedy.startswith("  check the path")


def test_verbose_shows_the_traceback_of_a_failure_before_the_job_too(tmp_path):
    # Here Beam, which has not started, logs none.
    (tmp_path / "file").write_bytes(b"text")
    run = called(*EXAMPLE, "--output", tmp_path / "file" / "below", "--verbose")
    assert (run.code, run.out) == (1, b"")
    assert "Traceback (most recent call last)" in run.err
    assert "NotADirectoryError" in run.err
    assert run.err.splitlines()[-2].startswith("beam-bleu: --output ")


# Exit code 1: the output cannot be written


def test_an_output_below_a_file_is_found_out_before_the_job(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"text")
    run = typed(*EXAMPLE, "--output", file / "below")
    run.assert_failed(1, f"--output {file}/below cannot be written: Not a directory")
    assert file.read_bytes() == b"text"


def test_a_result_that_cannot_be_replaced(tmp_path):
    folder = tmp_path / "scores.json"
    folder.mkdir()
    run = called(*EXAMPLE, "--output", tmp_path)
    run.assert_failed(1, f"--output {tmp_path} cannot be written: its scores.json is a folder")
    assert os.listdir(tmp_path) == ["scores.json"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["while it starts", "while it runs"])
def test_a_signal_ends_the_run_and_leaves_nothing_behind(number, when, tmp_path):
    text = tmp_path / "long.txt"
    text.write_text("a rather short line , and another clause .\n" * 3_000_000)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "--candidates", f"x={text}", "--references", text],
        cwd=PROJECT,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if when == "while it runs":
        while not os.listdir(temporary):  # the folder that gets scores.json
            time.sleep(0.01)
        time.sleep(0.5)
    else:
        time.sleep(0.2)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert (out, err.decode()) == (b"", f"beam-bleu: stopped by {number.name}\n")
    assert os.listdir(temporary) == []


def test_a_full_disk_behind_stdout_is_told_without_a_traceback():
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            [*COMMAND, *EXAMPLE], cwd=PROJECT, stdout=full, stderr=subprocess.PIPE, timeout=120
        )
    Run(process.returncode, b"", process.stderr.decode()).assert_failed(1, "No space left")


def test_a_reader_that_goes_away_is_no_reason_for_a_traceback():
    # beam-bleu ... | head -0
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        process = subprocess.run(
            [*COMMAND, *EXAMPLE], cwd=PROJECT, stdout=closed, stderr=subprocess.PIPE, timeout=120
        )
    assert b"Traceback" not in process.stderr
    assert b"Exception ignored" not in process.stderr
