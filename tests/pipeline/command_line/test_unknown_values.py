"""A value that is no choice of its flag: the error names the choice that is probably meant."""

from __future__ import annotations

import pytest
from command_line import EXAMPLE, called

from beam_bleu.pipeline.command_line.options import our_flags
from beam_bleu.pipeline.command_line.unknown_values import VALUES, unknown_value
from beam_bleu.transforms.text.tokenizers import OTHER_TOKENS

CHOICES = {
    flag.option_strings[-1]: tuple(flag.choices) for flag in our_flags() if flag.choices is not None
}


@pytest.mark.parametrize(
    ("flag", "value", "meant"),
    [
        ("--tokenize", "13A", "13a"),
        ("--tokenize", "v13a", "13a"),
        ("--tokenize", "mteval-v13a", "13a"),
        ("--tokenize", "ja_mecab", "ja-mecab"),
        ("--tokenize", "Japanese", "ja-mecab"),
        ("--tokenize", "inlt", "intl"),
        ("--smooth_method", "add_k", "add-k"),
        ("--smooth_method", "addk", "add-k"),
        ("--smooth_method", "flor", "floor"),
        ("--segment_smooth_method", "method5", "nltk-method5"),
        ("--format", "csv", "tsv"),
        ("--format", "md", "markdown"),
        ("--format", "JSON", "json"),
        ("--preset", "multi-bleu", "multi_bleu"),
        ("--preset", "moses", "multi_bleu"),
        ("--preset", "sacerbleu", "sacrebleu"),
        ("--reference_length", "closest-first", "closest_first"),
        ("--normalize", "NFC", "nfc"),
        ("--progress", "no", "off"),
        # No suggestion is better than a wrong one.
        ("--tokenize", "14a", None),
        ("--tokenize", "bert", None),
        ("--smooth_method", "method5", None),  # it is for segments only
        ("--format", "xml", None),
        ("--normalize", "nfd", None),
    ],
)
def test_the_value_that_is_meant_is_suggested_before_all_values(flag, value, meant):
    error = unknown_value(flag, value, CHOICES[flag])
    assert error.cause.startswith(f"{flag} {value}: there is no such ")
    shown = f"choose one of {', '.join(CHOICES[flag])}"
    if meant is not None:
        assert error.remedy == f"did you mean {meant}? {shown}"
    elif flag == "--tokenize":
        assert error.remedy == f"{shown}; {OTHER_TOKENS}"
    else:
        assert error.remedy == shown


@pytest.mark.parametrize("name", ["flores101", "flores200", "spBLEU-1K"])
def test_the_models_of_sacrebleu_are_given_as_files(name):
    run = called(*EXAMPLE, "-tok", name)
    run.assert_failed(2, f"--tokenize {name}: ", "write --tokenize spm --spm_model FILE")


def test_the_choices_of_beams_flags_are_shown_in_the_same_way():
    run = called(*EXAMPLE, "--type_check_strictness", "default_to_any")
    run.assert_failed(2, "--type_check_strictness default_to_any", "mean DEFAULT_TO_ANY? choose")


def test_every_flag_with_choices_has_a_row():
    assert VALUES.keys() == CHOICES.keys()


def test_every_synonym_stands_for_a_value_or_is_a_sentence():
    for flag, row in VALUES.items():
        names = {*CHOICES[flag], *CHOICES["--segment_smooth_method"]}
        for word, meant in row.synonyms.items():
            assert word == word.lower().replace("_", "-"), word
            assert word not in CHOICES[flag], word
            assert meant in names or " " in meant, word


def test_the_encoding_with_a_bom_is_accepted():
    assert called(*EXAMPLE, "-e", "utf-8-sig").out == called(*EXAMPLE).out
