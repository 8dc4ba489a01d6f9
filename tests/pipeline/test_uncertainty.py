"""Standard errors, comparisons and replicates in the result, as a user asks for them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from command_line import (
    EXAMPLE,
    EXAMPLES,
    REFERENCES,
    SYSTEMS,
    called,
    read_lines,
    streams,
    write_lines,
    write_records,
)
from sacrebleu.metrics import BLEU

KEYS_OF_EVIDENCE = {"uncertainty", "comparisons", "comparison_families", "clusters", "resampling"}
DOMAINS = [f"--labels=domain={EXAMPLES}/domains.txt", "--slice_by=domain"]
TEXTS = {name: read_lines(path) for name, path in SYSTEMS.items()}
REFERENCE_LINES = [read_lines(path) for path in REFERENCES]
BOOTSTRAP = ["--resample=bootstrap", "--resamples=400"]
RANDOMIZATION = ["--resample=randomization", "--resamples=400"]


def document(*arguments):
    return called(*arguments, "--format=json").document


@pytest.fixture(scope="module")
def example():
    return document(*EXAMPLE)


def clusters_of(found):
    return [each["systems"] for each in found["clusters"]]


def pairs(found):
    return [
        (each["system"], each["baseline"]) for each in found["comparisons"] if each["slice"] is None
    ]


def counts_of(rows, *systems):
    """The integers of these segments, of each system beside the other."""
    references = [[lines[row] for row in rows] for lines in REFERENCE_LINES]
    counts = [
        BLEU(force=True)._extract_corpus_statistics([TEXTS[name][row] for row in rows], references)
        for name in systems
    ]
    return np.concatenate(counts, axis=1)


def score_of(sums):
    """sacreBLEU's score of the sums of some segments: two lengths, the matches and the totals."""
    sys_len, ref_len, *counts = sums.tolist()
    return BLEU.compute_bleu(counts[:4], counts[4:], sys_len, ref_len, smooth_method="exp").score


def difference_of_scores(sums):
    return score_of(sums[: len(sums) // 2]) - score_of(sums[len(sums) // 2 :])


def jackknife(of_sums, counts):
    """The standard error of a function of sums, by leaving out one unit after the other."""
    values = [of_sums(counts.sum(axis=0) - each) for each in counts]
    return math.sqrt((len(counts) - 1) * np.var(values))


# Standard errors


def test_each_score_has_the_standard_error_of_leaving_out_segments(example):
    for score in example["scores"]:
        expected = jackknife(score_of, counts_of(range(72), score["system"]))
        assert score["standard_error"] == pytest.approx(expected, rel=0.03)
        low, high = score["interval"]
        assert high - score["score"] == pytest.approx(1.96 * score["standard_error"], rel=1e-4)
        assert score["score"] - low == pytest.approx(high - score["score"])
    expected = {"unit": "segment", "label": None, "units": 72, "confidence": 0.95}
    assert example["uncertainty"] == expected
    assert example["warnings"] == []


def test_fewer_than_30_segments_have_a_warning_and_no_standard_error(tmp_path):
    text, reference = (
        write_lines(tmp_path / f"{name}.txt", lines[:29])
        for name, lines in (("text", TEXTS["atlas"]), ("reference", REFERENCE_LINES[0]))
    )
    found = document(*streams([text], [reference]))
    (score,) = found["scores"]
    assert (score["standard_error"], score["interval"]) == (None, None)
    assert found["warnings"] == ["text: no standard error: 29 segments are fewer than 30"]


def test_slices_have_their_own_standard_errors_and_one_warning():
    found = document(*streams([SYSTEMS["atlas"]], REFERENCES), *DOMAINS)
    by_domain = {each["slice"]["domain"]: each for each in found["scores"] if each["slice"]}
    news = [i for i, name in enumerate(read_lines(EXAMPLES / "domains.txt")) if name == "news"]
    expected = jackknife(score_of, counts_of(news, "atlas"))
    assert by_domain["news"]["standard_error"] == pytest.approx(expected, rel=0.08)
    assert [name for name, each in by_domain.items() if each["standard_error"]] == ["news"]
    (warning,) = found["warnings"]
    assert warning.startswith(
        f"slices: {len(by_domain) - 1} of {len(by_domain)} scores have no standard error"
    )


def test_without_uncertainty_only_its_fields_are_missing():
    with_it = document(*EXAMPLE, *DOMAINS, "--compare_presets")
    without = document(*EXAMPLE, *DOMAINS, "--compare_presets", "--no_uncertainty")
    for each in with_it["scores"] + [s for p in with_it["presets"] for s in p["scores"]]:
        del each["standard_error"], each["interval"]
    with_it["warnings"] = [each for each in with_it["warnings"] if not each.startswith("slices: ")]
    expected = {key: each for key, each in with_it.items() if key not in KEYS_OF_EVIDENCE}
    assert json.dumps(without) == json.dumps(expected)  # the order, too


# Documents


def assert_as_segments_of_the_example(found, example, of_slice=None):
    """Checks that two equal segments in each document are as certain as one alone."""
    for key, fields in (
        ("scores", ("system", "score", "standard_error")),
        ("comparisons", ("system", "baseline", "units", "standard_error", "p_value")),
    ):
        entries = [each for each in found[key] if each["slice"] == of_slice]
        for each, expected in zip(entries, example[key], strict=True):
            same = [expected[name] for name in fields]
            assert [each[name] for name in fields] == pytest.approx(same)


def test_standard_errors_are_those_of_documents(example, tmp_path):
    """Each line is there twice, in one document: in lines, in a slice and in records."""
    documents = [f"news/größe {i % 72}" for i in range(144)]
    texts = {"r0": REFERENCE_LINES[0] * 2, "r1": REFERENCE_LINES[1] * 2}
    texts |= {name: lines * 2 for name, lines in TEXTS.items()}
    labels = {"docs": documents, "half": [str(i // 72) for i in range(144)]}
    files = {name: write_lines(tmp_path / name, text) for name, text in {**texts, **labels}.items()}
    found = document(
        *streams([files[name] for name in SYSTEMS], [files["r0"], files["r1"]]),
        *(f"--documents={files['docs']}", f"--labels=half={files['half']}"),
        "--slice_by=half,document",
    )
    expected = {"unit": "document", "label": "document", "units": 72, "confidence": 0.95}
    assert found["uncertainty"] == expected
    for of_slice in (None, {"half": "0"}, {"half": "1"}):
        assert_as_segments_of_the_example(found, example, of_slice)
    of_one = [each for each in found["scores"] if "document" in (each["slice"] or {})]
    assert len(of_one) == 3 * 72
    assert not any(each["standard_error"] for each in of_one)
    rows = [
        {"doc": {"id": name}, **{name: text[i] for name, text in texts.items()}}
        for i, name in enumerate(documents)
    ]
    path = write_records(tmp_path / "records.jsonl", rows)
    flags = ["--reference_columns=r0,r1", f"--candidate_columns={','.join(SYSTEMS)}"]
    found = document("--input", path, *flags, "--documents=doc.id")
    assert found["uncertainty"] == expected | {"label": "doc.id"}
    assert_as_segments_of_the_example(found, example)


def test_each_segment_must_have_a_document(tmp_path):
    path = tmp_path / "documents.txt"
    for line, fragment in (
        ("news\t", "segment 6 has no document in document"),
        ("a\tb\tc", "has 3 fields"),
    ):
        write_lines(path, [*["a document"] * 5, line, *["another one"] * 66])
        called(*EXAMPLE, f"--documents={path}").assert_failed(3, fragment, "line 6")
    for value, others, suffix in (
        (None, "d", "jsonl"),
        (" ", "d", "jsonl"),
        (math.nan, 1.5, "parquet"),
    ):
        rows = [{"hyp": "a", "ref": "a", "doc": value if i == 3 else others} for i in range(9)]
        path = write_records(tmp_path / f"records.{suffix}", rows)
        run = called("--input", path, "--documents", "doc", "--quiet")
        run.assert_failed(3, "segment 4 has no document in doc", "4")


# Comparisons


def test_each_system_is_compared_with_the_first_one(example):
    assert pairs(example) == [("birch", "atlas"), ("cobalt", "atlas")]
    scores = {each["system"]: each["score"] for each in example["scores"]}
    for each in example["comparisons"]:
        assert each["difference"] == pytest.approx(scores[each["system"]] - scores["atlas"])
        assert (each["segments"], each["units"]) == (72, 72)
        both = counts_of(range(72), each["system"], "atlas")
        expected = jackknife(difference_of_scores, both)
        assert each["standard_error"] == pytest.approx(expected, rel=0.04)
        z = abs(each["difference"]) / each["standard_error"]
        assert each["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)))
        assert each["detectable"] == pytest.approx(2.8016 * each["standard_error"], rel=1e-4)
    (family,) = example["comparison_families"]
    of_corpus = {"metric": "bleu", "family": "corpus", "comparisons": 2}
    assert family == of_corpus | {"description": "2 systems against atlas, on the whole corpus"}
    small, large = sorted(example["comparisons"], key=lambda each: each["p_value"])
    assert small["p_value_holm"] == 2 * small["p_value"]
    assert large["p_value_holm"] == large["p_value"]
    assert "clusters" not in example


def test_all_pairs_and_clusters(tmp_path):
    # A copy of a system is in its cluster: p = 1.
    copy = write_lines(tmp_path / "copy.txt", TEXTS["birch"])
    found = document(*streams([*SYSTEMS.values(), copy], REFERENCES), "--compare=all", *DOMAINS)
    assert pairs(found) == [
        *(("birch", "atlas"), ("cobalt", "atlas"), ("copy", "atlas")),
        *(("cobalt", "birch"), ("copy", "birch"), ("copy", "cobalt")),
    ]
    assert clusters_of(found) == [["atlas"], ["birch", "copy"], ["cobalt"]]
    assert [each for each in found["warnings"] if "same score" in each] == [
        "copy and birch have the same score on every segment; is one of the files a copy of the "
        "other?"
    ]
    same = found["comparisons"][4]
    assert (same["difference"], same["standard_error"]) == (0, 0)
    assert (same["p_value"], same["p_value_holm"]) == (1, 1)
    # Slices are compared with the baseline only, and are a family of their own.
    sliced = [each for each in found["comparisons"] if each["slice"]]
    assert {(each["baseline"], each["family"]) for each in sliced} == {("atlas", "slices")}
    with_p = [each for each in sliced if each["p_value"] is not None]
    assert {each["slice"]["domain"] for each in with_p} == {"news"}
    assert [each["comparisons"] for each in found["comparison_families"]] == [6, len(with_p)]


def test_macro_averages_and_languages_are_compared(tmp_path):
    languages = ["en-de"] * 40 + ["de-en"] * 32
    labels = write_lines(tmp_path / "languages.txt", languages)
    found = document(*EXAMPLE, f"--labels=lang={labels}", "--language_column=lang")
    averages = {each["system"]: each for each in found["macro_average"]}
    for system, mean in averages.items():
        own = [each for each in found["scores"] if each["slice"] and each["system"] == system]
        errors = [each["standard_error"] for each in own]
        assert mean["standard_error"] == pytest.approx(math.hypot(*errors) / 2)
        assert sum(mean["interval"]) / 2 == pytest.approx(mean["score"])
    of_languages = {
        (each["system"], each["slice"]["lang"]): each
        for each in found["comparisons"]
        if each["slice"]
    }
    assert len(of_languages) == 4
    for compared in found["macro_average_comparisons"]:
        system = compared["system"]
        assert (compared["baseline"], compared["family"]) == ("atlas", "macro_average")
        assert (compared["segments"], compared["units"]) == (72, 72)
        difference = averages[system]["score"] - averages["atlas"]["score"]
        assert compared["difference"] == pytest.approx(difference)
        errors = []
        for language in ("en-de", "de-en"):
            rows = [row for row, name in enumerate(languages) if name == language]
            both = counts_of(rows, system, "atlas")
            errors.append(jackknife(difference_of_scores, both))
            own = of_languages[system, language]
            assert own["difference"] == pytest.approx(difference_of_scores(both.sum(axis=0)))
            assert own["standard_error"] == pytest.approx(errors[-1], rel=0.06)
        assert compared["standard_error"] == pytest.approx(math.hypot(*errors) / 2, rel=0.05)
        z = abs(difference) / compared["standard_error"]
        assert compared["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)))
    families = [(each["family"], each["comparisons"]) for each in found["comparison_families"]]
    assert families == [("corpus", 2), ("macro_average", 2), ("slices", 4)]


def test_a_system_without_a_standard_error_leaves_the_lines_between_the_others(tmp_path):
    empty = [write_lines(tmp_path / f"{name}.txt", [""] * 72) for name in ("none", "nothing")]
    for number, words in ((1, "none, because it has"), (2, "none, nothing, because they have")):
        arguments = streams([*SYSTEMS.values(), *empty[:number]], REFERENCES, "--compare=all")
        found = document(*arguments)
        assert clusters_of(found) == [["atlas"], ["birch"], ["cobalt"]]
        assert f"clusters: without {words} no standard error" in found["warnings"]


def test_systems_of_a_join_are_compared_on_the_segments_that_all_have(tmp_path):
    def written(name, column, lines, place):
        """Each system lacks other segments."""
        records = [{"id": i, column: line} for i, line in enumerate(lines) if i % 10 != place]
        return write_records(tmp_path / f"{name}.jsonl", records)

    systems = [written(name, "hyp", TEXTS[name], place) for place, name in enumerate(TEXTS)]
    reference = written("reference", "ref", REFERENCE_LINES[0], None)
    joined = [*streams(systems, [reference]), "--join_on=id"]
    found = document(*joined, "--coverage=each", "--compare=all")
    kept = [i for i in range(72) if i % 10 > 2]
    plain = [
        write_lines(tmp_path / f"{name}.txt", [lines[i] for i in kept])
        for name, lines in {**TEXTS, "reference": REFERENCE_LINES[0]}.items()
    ]
    expected = document(*streams(plain[:-1], plain[-1:]), "--compare=all")
    assert found["comparisons"] == expected["comparisons"]
    assert clusters_of(found) == clusters_of(expected)
    assert [each["segments"] for each in found["scores"]] != [len(kept)] * 3


def test_systems_that_are_found_in_records(tmp_path):
    records = [
        {"id": i, "system": name, "mt": mt, "ref": ref, "domain": "odd" if i % 2 else "even"}
        for name in ("b10", "b9", "a")
        for i, (mt, ref) in enumerate(
            zip(TEXTS["atlas" if name == "a" else "birch"], REFERENCE_LINES[0], strict=True)
        )
    ]
    path = write_records(tmp_path / "long.jsonl", records)
    arguments = [
        *(f"--input={path}", "--candidate_columns=mt", "--reference_columns=ref"),
        *("--system_column=system", "--id_column=id", "--slice_by=domain"),
    ]
    found = document(*arguments)
    assert pairs(found) == [("b9", "a"), ("b10", "a")]  # in natural order
    assert len([each for each in found["comparisons"] if each["slice"]]) == 4
    assert pairs(document(*arguments, "--baseline=b10")) == [("a", "b10"), ("b9", "b10")]
    run = called(*arguments, "--baseline=c")
    run.assert_failed(3, "--baseline c: the input has no system with this name", "a, b9, b10")


# Replicates


def test_the_bootstrap_agrees_with_the_standard_errors():
    run = called(*EXAMPLE, *BOOTSTRAP, "--format=json")
    found, resampling = run.document, run.document["resampling"]
    described = [resampling[key] for key in ("method", "resamples", "seed", "unit", "generator")]
    assert described == ["bootstrap", 400, 12345, "segment", "philox4x32-10"]
    for drawn, score in zip(resampling["scores"], found["scores"], strict=True):
        assert drawn["system"] == score["system"]
        assert drawn["mean"] == pytest.approx(
            score["score"], abs=0.1 * score["standard_error"] + 0.3
        )
        assert width(drawn) == pytest.approx(width(score), rel=0.15)
    for drawn, exact in zip(resampling["comparisons"], found["comparisons"], strict=True):
        assert (drawn["system"], drawn["baseline"]) == (exact["system"], exact["baseline"])
        assert drawn["difference"] == pytest.approx(exact["difference"])
        assert width(drawn) == pytest.approx(width(exact), rel=0.15)
        assert drawn["p_value"] == drawn["p_sacrebleu"] == 1 / 401  # none is so far away
    assert called(*EXAMPLE, *BOOTSTRAP, "--format=json", "--threads=2").out == run.out


def width(entry):
    return entry["interval"][1] - entry["interval"][0]


def test_randomization_compares_and_has_no_scores():
    arguments = [*EXAMPLE, *RANDOMIZATION, "--compare=all", "--format=json"]
    run = called(*arguments)
    resampling = run.document["resampling"]
    assert (resampling["method"], resampling["scores"]) == ("randomization", [])
    assert len(resampling["comparisons"]) == 3
    for each in resampling["comparisons"]:
        assert (each["mean"], each["interval"]) == (None, None)
        assert each["p_value"] == 1 / 401
    assert called(*arguments, "--range_bytes=300", "--threads=1").out == run.out


def test_a_bootstrap_of_too_few_units_has_only_means_and_a_warning(tmp_path):
    for number, are_few in ((1, "1 document is"), (29, "29 documents are"), (30, "")):
        labels = [f"document-{min(i, number - 1)}" for i in range(72)]
        documents = f"--documents={write_lines(tmp_path / 'documents.txt', labels)}"
        found = document(*EXAMPLE, *BOOTSTRAP, documents, "--no_uncertainty")
        compared = found["resampling"]["comparisons"]
        entries = [*found["resampling"]["scores"], *compared]
        assert None not in [each["mean"] for each in entries]
        evidence = [each["interval"] for each in entries]
        evidence += [each[name] for each in compared for name in ("p_value", "p_sacrebleu")]
        assert {each is None for each in evidence} == {bool(are_few)}
        warnings = [each for each in found["warnings"] if "--resample" in each]
        if are_few:
            because = f"no intervals and no p-values, because {are_few} fewer than 30; use"
            few = f"--resample bootstrap: {because} --resample randomization, which is also valid"
            assert [each.startswith(few) for each in warnings] == [True]
        else:
            assert warnings == []
        assert "standard_error" not in found["scores"][0]
        swapped = document(*EXAMPLE, *RANDOMIZATION, documents)
        assert not [each for each in swapped["warnings"] if "--resample" in each]
        first, *_ = swapped["resampling"]["comparisons"]
        assert first["p_value"] > first["p_sacrebleu"] if number == 1 else first["p_value"] < 0.05
