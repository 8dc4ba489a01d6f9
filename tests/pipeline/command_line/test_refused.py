"""Command lines that cannot be meant: exit code 2, and what is wrong is named, before a job runs.

Each line below is a command line. The error must name its first flag, or what is after `=>`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import EXAMPLE, EXAMPLES, SYSTEMS, called, typed

from beam_bleu.pipeline.folder import paths

BESIDE = r"""
--smoth_method exp => did you mean --smooth_method?
-x => unknown flag -x
--tokenize 14a
--preset sacre => huggingface
--compare_presets=some
--format xml
--reference_length mean
--allow other_document => did you mean other-documents?
--smooth_method expo
--smooth_method nltk-method5 => nltk-method5
--preset nltk --effective_order => effective_order
--smooth_value 0.1 => cannot be used with smooth_method 'exp'
--smooth_method floor --smooth_value -1 => 0 to 1000000 for smooth_method
--smooth_method floor --smooth_value x => --smooth_value
--weights a,b
--weights 0,0 => weights
--weights 0.5,0.5 --max_ngram_order 3 => max_ngram_order = 3
--max_ngram_order 0 => max_ngram_order must be 1 to 16
--lowercase --no_lowercase
--lowercase=no
--metrics chrf --smooth_method=floor => --smooth_method is a flag of bleu
--metrics chrF => there is no such metric
--metrics chrf --chrf_beta=0 => beta must be 1 to 1000
--metrics mean:comet => line-parallel text has no columns
--metrics XCOMET-XL => --input FILE.jsonl -m mean:score
--metrics metricx => -m mean_error:score
--metrics chrF++ => write -m chrf -cw 2
--metrics rouge => did you mean rouge
--text_column=text => is a flag of perplexity
--confusions=5 --output x => --confusions is a flag of wer, cer
--metrics wer --confusions=5 => --confusions needs --output
--metrics cer --wer_normalizer=whisper => whisper-basic, whisper-en
--compare=all => there is only one: atlas
--compare=baseline
--compare=all --no_uncertainty
--candidates systems/birch.txt --baseline=atlsa => did you mean atlas?
--candidates systems/birch.txt --baseline=atlas --no_uncertainty => have no effect
--documents=docs.txt --no_uncertainty => have no effect with --no_uncertainty
--resample=randomization => there is only one: atlas
--resamples=5
--seed=5
--resample=bootstrap --resamples=100001 => a whole number, 1 to 100000
--resample=bootstrap --labels=a=domains.txt --language_column=a => --language_column
--baseline best --candidates systems/birch.txt => --baseline best needs --compare all
--paired-bs --paired-ar => --paired-bs and --paired-ar contradict each other
-t wmt17 => -t is a flag of sacreBLEU
--width=x
--cuts some
--expect_segments 0
--max_line_bytes 1073741825
--quiet --progress=on => --quiet cannot be used with --progress on
--metrics_label corpus=news
--metrics_slices=2
--metrics_slices=1001 => 0 to 1000, got 1001
--metrics_label=a-b=c => must be NAME=VALUE
--metrics_label=job=b => none of job
--metrics bleu chrf bleu
--threads 0
--range_bytes 15
--tokenize spm => spm_model must be given
--spm_model domains.txt => spm_model must be given
--tokenize spm --spm_model '' => --spm_model is empty
--tokenize spm --spm_model nope://x => nope://x: there is no such filesystem
--metrics rouge1 --rouge_words unicode --rouge_stemmer => the stemmer is for English words
--metrics rouge1 --rouge_words words => choose one of ascii, unicode, char
--metrics chrf --diversity => --diversity is a flag of bleu
--diversity --language_column=a --labels=a=domains.txt => --diversity cannot be used with
--encoding latin1 => choose one of utf-8
--candidates
--candidates systems/atlas.txt => two systems are called atlas
--candidates =systems/birch.txt => system name ''
--candidates /tmp/.zst => system name ''
--candidates 'part-[0-9]'
--candidates 'x[1]=systems/atlas.txt' => a pattern needs a name
--references nope://host/file => there is no such filesystem
--references /dev/null => save its text in a file
--output ''
--output x --partition news/en => a label of printable characters without /
--output x --partition ' a' => a label of printable characters
--output domains.txt
--output https://example.org/scores
extra.txt => the reference extra.txt
--runner DaskRunner => DaskRunner is refused
--runner spark --output x --streaming => --streaming
--runner FastRunner
--runner FlinkRunner => needs --output
--runner PortableRunner --output x -- --typo => --job_endpoint
--num_workers many
--direct_test_splits x
--resource_hint x => resource hint
--dry_run true
--no_wait_until_finish
--wait_until_finish_duration 5
--on_success_matcher x
--environment_type LOOPBACK
-- file.txt => file.txt comes after --
--slice_by=domain => the input has no label
--slice_by=length*length => length*length has a label twice
--length_edges=1,2
--max_slices=5
--slice_by=length --max_slices=1000000 => --max_slices
--slice_by=length --length_edges=5,5 => --length_edges
--labels=domain=domains.txt
--labels=domains.txt --slice_by=length => the labels have no name
--labels=length=domains.txt --slice_by=length => 'length' cannot be the name of a label
--labels=a=domains.txt --labels=a=domains.txt --slice_by=a => two labels are called a
--labels=Score=domains.txt --slice_by=Score --segment_scores --output=x => would be called score
--labels=document=domains.txt --documents=domains.txt => two labels are called document
--label_from_path pair=news/*/ => must have one part in parentheses
--slice_by a --label_from_path pair=n/(*)/ --label_from_path pair=(*) => two labels
--label_from_path pair=n/(*)/ => --label_from_path needs --slice_by
--language en-zh --tokenize 13a
--language de --preset tensorflow => write --tokenize 13a
--language zh --preset huggingface => another flag chooses 13a
--language jp => 'jp'
--language zh --language_column lang
--language_column lang --tokenize 13a
--language_column lang --score_only
--layout wmt26 => mt-metrics-eval, wmt25
""".strip().splitlines()
"""Command lines that begin with the files of the example."""

WHOLE = """
r -i a --candidates b => both name systems
r --references s -i a => the reference r
--candidates a b => the reference b
-i a b => the references are missing
--references a => the systems are missing
r -i => expected at least one argument
r -i '' => the system name ''
'' -i a => REF is empty
r -i - - => stdin can be read only once
r -i a --compare_presets b => 'b' after -i
-m bleu r -i a => references come before -m
r.txt --input x.jsonl => the reference r.txt
--input x.jsonl -i a.txt => -i cannot be used with --input
--input x.jsonl --input y.jsonl
--input x.jsonl --join_on id => --join_on cannot be used with --input
--input x.jsonl -nr 2 => --num_refs
--input x.jsonl --labels a=b.txt => --labels
r.jsonl -i c.jsonl --join_on id --cuts any => --cuts
--input x.jsonl --documents=length => --documents length
r.jsonl -i c.jsonl --join_on id --coverage each --resample=bootstrap => --coverage each
--input x.jsonl -m mean:a mean:a => twice
--input x.jsonl -m mean:a --language de => --language
--input x.jsonl -m mean:a --normalize nfc => --normalize is a flag of bleu, chrf
--input x.jsonl -m mean:a --slice_by length => length
--input x.jsonl -m perplexity --perplexity_per=word => text_column
--input x.jsonl -m perplexity --text_column=a --word_count_column=b => text_column
r.txt -i c.txt --candidate_columns a => --candidate_columns needs --input or --join_on
r.txt -i c.txt --coverage each => --coverage needs
r.txt -i c.txt --system_column a --id_column b => --system_column needs --input
r.txt -i a.jsonl => a.jsonl is a file of records
r.txt -i 'x=a/*.JSONL.gz' => --join_on COLUMN
--input x.txt => format of x.txt
--input - => the format of - is not known
--input - --input_format jsonl --runner FlinkRunner --output x => cannot read stdin
--input x --input_format jsnl => did you mean jsonl?
--input x.tsv --header --no_header => --no_header
--input x.jsonl --candidate_columns a,,b => 'a,,b'
--input x.jsonl --candidate_columns a,b,a => different names
--input x.jsonl --where a => --where
--input x.jsonl --where b==a => --where
--input x.jsonl --system_column s => --id_column
--input x.jsonl --header => --header is for CSV
r.csv -i c.jsonl --join_on id --no_header => not for c.jsonl
--input x.jsonl --id_column s => --system_column
--input x.jsonl --system_column s --id_column i --candidate_columns a,b => only one column
r.jsonl -i c.jsonl --join_on id --candidate_columns a,b => only one column
r.jsonl -i c.jsonl --join_on id --system_column s => --system_column
r.jsonl -i c.jsonl --join_on=a,a => different names
r.jsonl -i c.jsonl d/c.jsonl --join_on id => two systems are called c
--layout mt-metrics-eval --input a => --language SOURCE-TARGET
--layout mt-metrics-eval --language en-de => --input DIR
--layout wmt25 r.jsonl -i a.jsonl => --where tgt_lang=CODE
--layout wmt25 r.jsonl -i a.jsonl --where tgt_lang=German => 'German'
--layout wmt24pp r.jsonl -i a.jsonl => --language CODE
--layout lm-eval --input a.jsonl => --where filter=NAME
--layout lm-eval --join_on id -i x=systems/ --where filter=x => 'systems/**/*.jsonl'
--layout lm-eval --input 'a*.jsonl' --where filter=none --score_only => --score_only
--input x.jsonl --metrics_by => expected at least one argument
--input x.jsonl --metrics_by bleu => must be PATTERN=METRIC
--input x.jsonl --metrics_by 'a*=bleu blue' => 'a*=bleu blue'
--input x.jsonl --metrics_by 'a*=bleu bleu' => with different metrics
--input x.jsonl --metrics_by 'a*=bleu' 'a*=chrf' => has a pattern twice
--input x.jsonl --metrics_by 'a*=bleu' -m chrf => --metrics cannot be used with --metrics_by
--input x.jsonl --metrics_by 'a*=bleu' => needs tasks that are scored one by one
--layout lighteval --input x.parquet --metrics_by 'a*=bleu' --pool_tasks => without --pool_tasks
--layout lighteval --input x.parquet --metrics_by 'a*=bleu' --examples 3 --output x => --examples
--layout lighteval --input x.parquet --metrics_by 'a*=wer' --confusions 3 --output x => --confusions
--layout squad --input x.jsonl --metrics_by 'a*=bleu' => needs tasks that are scored one by one
--layout swe-bench a.json -i B=b.json => -i a.json B=b.json
--layout lm-eval a.jsonl -i b.jsonl --where filter=x -m mean:acc => a.jsonl would not be scored
--layout hf-translation --input a.parquet => --language CODE
""".strip().splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the example."""
    folder = tmp_path_factory.mktemp("example")
    for path in EXAMPLES.iterdir():
        (folder / path.name).symlink_to(path)
    return folder


def test_each_line_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    files = "--references=references/a.txt --candidates=systems/atlas.txt"
    accepted = {}
    for line in [*BESIDE, *WHOLE]:
        command, _, named = line.partition(" => ")
        words = shlex.split(command if line in WHOLE else f"{files} {command}")
        run = called(*words)
        try:
            run.assert_failed(2, named or re.split("[ =]", line)[0])
        except AssertionError:
            accepted[line] = run
    assert accepted == {}
    assert sorted(folder.iterdir()) == sorted(folder / path.name for path in EXAMPLES.iterdir())


def test_a_pipe_among_the_files_of_a_pattern_does_not_hang(tmp_path: Path) -> None:
    shutil.copy(SYSTEMS["atlas"], tmp_path / "part-1")
    os.mkfifo(tmp_path / "part-2")
    try:
        run = typed(*EXAMPLE, "--candidates", f"x={tmp_path}/part-*")
    except subprocess.TimeoutExpired:
        pytest.fail("the command waits until a program writes to the pipe")
    assert run.code in (2, 3)
    run.assert_failed(run.code, "part-2")


def test_a_missing_library_of_a_filesystem_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "has_module", lambda name: False)
    run = called(*EXAMPLE, "--candidates", "hdfs://host/file.txt")
    run.assert_failed(2, "hdfs://host/file.txt", paths.INSTALL_HADOOP)
