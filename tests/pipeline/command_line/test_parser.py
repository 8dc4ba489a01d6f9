"""The words of a command line: each one is ours, Beam's, a value or a reference; and the help."""

from __future__ import annotations

import argparse
import bz2
import copy
import operator
import re
import signal

import pytest
from apache_beam.internal import cloudpickle_pickler
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from command_line import EXAMPLE, EXAMPLES, PROJECT, SYSTEMS, called

from beam_bleu.pipeline.command_line.config import KeptViews, our_parser
from beam_bleu.pipeline.command_line.help import USUAL_FLAGS
from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.command_line.sacrebleu_flags import ABSENT, SYNONYMS, in_our_words
from beam_bleu.transforms.metrics.bleu.presets import PRESETS

ATLAS = SYSTEMS["atlas"]
OURS = {spelling for flag in our_parser().actions() for spelling in flag.option_strings}


def read(*words: str):
    """The patterns of the references, and the names and patterns of the systems."""
    source = parse(words).job.source
    references = [stream.pattern for stream in source.references]
    candidates = [stream.pattern for stream in source.candidates]
    return references, list(zip(source.systems, candidates, strict=True))


def test_references_may_be_before_and_after_a_flag_and_its_value_is_none():
    expected = ["r1", "r2"], [("h1", "h1"), ("h2", "h2")]
    systems = ["-i", "h1", "h2"]
    for flag in (
        *(["-lc"], ["--tokenize", "none"], ["--max-ngram-order=2"], ["-s", "floor"]),
        *(["--job_name", "a.txt"], ["--label=x=y"], ["--streaming"], ["--parallelism", "-1"]),
    ):
        assert read("r1", "r2", *flag, *systems) == expected, flag
        assert read("r1", *flag, "r2", *systems) == expected
        assert read("r1", "r2", *systems, *flag) == expected
    arguments = parse(["--job_name", "j", "r1", "-lc", "-i", "h"])
    assert arguments.beam.get_all_options()["job_name"] == "j"
    assert arguments.job.metrics.lengths.lowercase is True


def test_a_value_that_may_be_left_out_is_not_taken_from_the_references():
    assert read("--compare_presets", "r", "-i", "h")[0] == ["r"]
    assert read("--compare-presets", "all", "r", "-i", "h")[0] == ["r"]
    (metric,) = parse(["r", "--compare_presets", "all", "-i", "h"]).job.scorings.values()
    assert [*metric.presets] == [*PRESETS]


def test_a_short_spelling_means_the_flag():
    for words, same in (
        ("-f json", "--format json"),
        ("-fjson", "--format json"),
        ("-lc", "--lowercase"),
        ("-tok=intl", "--tokenize intl"),
        ("-s floor -sv 0.2", "--smooth_method floor --smooth_value 0.2"),
        ("-bw2", "--score-only --width 2"),
        ("-qb", "--quiet --score-only"),
        ("-e UTF8 -m bleu", ""),
    ):
        one, other = (parse(["r", "-i", "h", *line.split()]) for line in (words, same))
        assert (one.job.metrics, one.job.source) == (other.job.metrics, other.job.source), words
        shown = operator.attrgetter("format", "width", "score_only", "quiet")
        assert shown(one.flags) == shown(other.flags)
    for word in ("-to", "-x", "-lowercase", "-input"):
        called("r", "-i", "h", word).assert_failed(2, f"unknown flag {word}")


def test_a_name_with_a_comma_is_written_in_brackets_in_every_flag(tmp_path):
    path = tmp_path / "r.tsv"
    path.write_text("h,y=p\tr,ef\td,om\n" + "a b\ta b\t1\n" * 3)
    columns = ["--input", path, "--reference_columns", '["r,ef"]', "--format", "json"]
    columns += ["--slice_by", '["d,om"],length', "--where", '["d,om"]=1']
    columns += ["--metrics", "bleu", 'mean:["d,om"]', "--no_uncertainty"]
    for candidate, name in (('["h,y=p"]', '["h,y=p"]'), ('x=["h,y=p"]', "x")):
        run = called(*columns, "--candidate_columns", candidate)
        assert {each["system"] for each in run.document["scores"]} == {name}, run.err


# Beam's flags


def test_flags_that_beam_allows_change_no_number():
    flags = [
        *("--job_name", "bleu", "--label", "a=b", "--project", "p", "--region", "r", "--streaming"),
        *("--save_main_session", "--pickle_library", "cloudpickle", "--direct_num_workers", "3"),
        *("--setup_file", PROJECT / "pyproject.toml", "--extra_package", "gs://bucket/a.whl"),
        *("--parallelism", "-1", "--flink_master", "[auto]", "--"),  # what they are by default
    ]
    assert called(*EXAMPLE, *flags).out == called(*EXAMPLE).out


@pytest.mark.parametrize(
    "mode", ["multi_threading", pytest.param("multi_processing", marks=pytest.mark.slow)]
)
def test_beams_workers_print_no_tracebacks(mode, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(cloudpickle_pickler, "bz2", bz2)  # workers have no quicker Beam
    bad = tmp_path / "bad.txt"
    bad.write_bytes(ATLAS.read_bytes().replace(b"e", b"\xff", 1))
    run = called(*EXAMPLE, "--candidates", bad, "--direct_running_mode", mode)
    run.assert_failed(3, "line 1: invalid UTF-8", f": {bad}\n")
    assert capfd.readouterr().err == ""  # where the workers, which have fd 2, would write


def test_a_copy_has_its_own_values_in_all_of_its_views():
    options = KeptViews([])
    assert not options.view_as(StandardOptions).streaming
    copied = copy.deepcopy(options)  # as `beam.Pipeline` does
    copied.view_as(StandardOptions).streaming = True
    assert PipelineOptions.view_as(copied, StandardOptions).streaming
    assert not options.view_as(StandardOptions).streaming


# Words that are not known


def flags_of_sacrebleu(monkeypatch) -> set[str]:
    """All spellings of all flags of sacreBLEU's command."""
    # Its import lets a closed pipe end the process, which is here pytest's process.
    handler = signal.getsignal(signal.SIGPIPE)
    from sacrebleu import sacrebleu

    signal.signal(signal.SIGPIPE, handler)
    parsers = []

    def parse_nothing(self, *_):
        parsers.append(self)
        return argparse.Namespace()

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_nothing)
    monkeypatch.delenv("SACREBLEU_FORMAT", raising=False)
    sacrebleu.parse_args()
    return {flag for action in parsers[0]._actions for flag in action.option_strings}


def test_every_flag_of_sacrebleu_is_accepted_or_its_error_says_what_to_use(monkeypatch):
    with monkeypatch.context() as patched:
        flags = flags_of_sacrebleu(patched)
    assert len(flags) > 60
    absent = {flag for row in (*ABSENT.values(), *(row.flags for row in SYNONYMS)) for flag in row}
    assert absent <= flags  # each row is about a flag that sacreBLEU has
    assert not absent & OURS
    ours = flags - absent
    assert {"--" + flag[2:].replace("-", "_") for flag in ours if flag.startswith("--")} <= OURS
    assert {flag for flag in ours if not flag.startswith("--")} <= OURS


def test_flags_of_sacrebleu_stand_for_ours_and_stderr_says_so(caplog):
    for theirs, ours in (
        ("--paired-bs --paired-bs-n 500", "--resample bootstrap --resamples 500"),
        ("-pbs -pbsn=500", "--resample bootstrap --resamples=500"),
        ("--paired_ar -parn 20", "--resample randomization --resamples 20"),
        ("-ci --confidence-n 20", "--resample bootstrap --resamples 20"),
        ("-sl --output x", "--segment_scores --output x"),
    ):
        caplog.clear()
        assert in_our_words(theirs.split()) == ours.split()
        flags = re.findall(r"^\S+ stands for (--\w+)", "\n".join(caplog.messages), re.MULTILINE)
        assert flags == [flag for flag in re.findall("--[a-z_]+", ours) if flag != "--output"]
    run = called(*EXAMPLE, "--paired-bs", "-pbsn", "100", "--format", "json")
    assert run.document["resampling"]["resamples"] == 100
    assert "\nbeam-bleu: warning: -pbsn stands for --resamples\n" in run.err


def test_a_word_that_is_near_a_subcommand_is_not_taken_for_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for word, meant in (("help", "--help"), ("doctr", "doctor"), ("Doctor", "doctor")):
        cause = f"there is no file {word}, and no subcommand of this name\n"
        called(word, "--format", "json").assert_failed(2, cause, f"did you mean {meant}?")
    for word in ("help", "./doctor"):  # a file may have such a name
        (tmp_path / word).write_bytes(ATLAS.read_bytes())
        assert called(word, "-i", ATLAS, "-b").out == b"100.0\n"


# Help


def shown(*words: str) -> str:
    run = called(*words)
    assert (run.code, run.err) == (0, "")
    return run.out.decode()


def test_the_help_is_as_wide_as_the_terminal_up_to_100_columns(monkeypatch):
    for word, columns in (("--help", 80), ("--help", 200), ("--help_beam", 100)):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = shown(word).splitlines()
        assert len(lines) > 80
        assert max(map(len, lines)) > min(columns, 100) - 10
        one_long_word = r" +\S*(://|=)\S+"  # a URL, or a value, that can be copied
        wide = [line for line in lines if len(line) > min(columns, 100)]
        assert [line for line in wide if not re.fullmatch(one_long_word, line)] == []


def test_help_shows_every_flag_once_with_its_spellings(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = shown("--help")
    for flag in our_parser().actions():
        spellings = ", ".join(flag.option_strings) or str(flag.metavar)
        found = re.findall(rf"^  {re.escape(spellings)}(?![\w-])", text, re.MULTILINE)
        assert len(found) == 1, spellings
    assert "None" not in text


def test_help_finds_any_word():
    for word, *found in (
        ("significance", "--resample METHOD", "docs/significance.md"),
        ("lm-eval", "--layout NAME", "docs/inputs.md"),
        ("ter", "--ter_no_punct", "--metrics", "docs/metrics.md"),
        ("bootstrap", "--resample METHOD", "--paired-bs, -pbs", "docs/significance.md"),
        ("worst", "beam-bleu worst", "docs/tables.md"),
        ("flink", "--runner NAME", "--flink_master", "docs/operating.md"),
    ):
        text = shown(f"--help={word}")
        assert [one for one in found if one not in text] == [], word
        assert len(text.splitlines()) < 90, word
    called("--help", "lateks").assert_failed(2, "about this word", "did you mean latex or ")


def test_the_short_help_is_one_screen_of_flags_that_there_are():
    lines = shown("-h").splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    assert {words.split()[0] for words in USUAL_FLAGS} <= {*OURS, "--runner", "REF"}
    for words in USUAL_FLAGS:
        assert any(line.startswith(f"  {words} ") for line in lines), words
    run = called()
    assert (run.code, run.out, run.err.splitlines()) == (2, b"", lines)


def test_the_first_examples_are_commands_that_run(tmp_path, monkeypatch):
    (tmp_path / "refs").symlink_to(EXAMPLES / "references")
    (tmp_path / "outputs").symlink_to(EXAMPLES / "systems")
    for name, target in (("base", "systems/birch"), ("tuned", "systems/atlas")):
        (tmp_path / f"{name}.txt").symlink_to(EXAMPLES / f"{target}.txt")
    (tmp_path / "ref.txt").symlink_to(EXAMPLES / "references" / "a.txt")
    (tmp_path / "out.jsonl").write_text('{"mt": "a b c d", "ref": "a b c d"}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    examples = shown("--help").partition("examples:\n")[2].partition("\n\n")[0]
    *commands, of_cluster = re.findall(r"^  beam-bleu (.*)", examples, re.M)
    assert len(commands) == 3
    assert of_cluster.startswith("--references 's3://")
    for command in commands:
        run = called(*command.replace("'", "").split())
        assert run.code == 0, run.err
