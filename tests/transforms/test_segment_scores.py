"""The library: each segment of a pipeline is scored by itself, by one metric or several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.transforms import window
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import typehints
from apache_beam.utils.windowed_value import PaneInfo, PaneInfoTiming, WindowedValue
from found_in_pipelines import found_in
from hostile_texts import hostile_segments
from sacrebleu.metrics import BLEU, CHRF, TER

from beam_bleu import ArrowColumns, BleuConfig, ChrfConfig, SegmentScores, TerConfig
from beam_bleu.transforms.pairing import batch
from beam_bleu.transforms.pairing.segments import batching
from beam_bleu.transforms.segment_scores import _ScoreElements

SEGMENTS = hostile_segments(120)
METRICS = {
    "ter": TerConfig(asian_support=True),
    "bleu": BleuConfig(lowercase=True, smooth_method="add-k"),
    "chrf": ChrfConfig(word_order=2),
}
SACREBLEUS = {
    "ter": TER(asian_support=True),
    "bleu": BLEU(lowercase=True, smooth_method="add-k", effective_order=True),
    "chrf": CHRF(word_order=2),
}
TABLE = pa.table(
    {
        "id": [*range(len(SEGMENTS))],
        "hyp": [candidate for candidate, _ in SEGMENTS],
        "refs": [references for _, references in SEGMENTS],
        "note": pa.array([None if i % 3 else f"n{i}" for i in range(len(SEGMENTS))]),
    }
).replace_schema_metadata({"from": "a file"})
COLUMNS = ArrowColumns("hyp", "refs", key="id")


@pytest.fixture(autouse=True)
def several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements and rows are in more than one batch."""
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 50)
    monkeypatch.setattr(batch, "_USUAL_ROWS", 50)


@pytest.fixture(scope="module")
def of_sacrebleu() -> list[dict[str, float]]:
    """sacreBLEU's scores of each segment."""
    return [
        {
            name: metric.sentence_score(candidate, [text for text in texts if text is not None])
            for name, metric in SACREBLEUS.items()
        }
        for candidate, texts in SEGMENTS
    ]


def assert_are(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(found) == len(expected)
    for scores, of_segment in zip(found, expected, strict=True):
        assert list(scores) == [*METRICS]
        assert scores == {name: score.score for name, score in of_segment.items()}


def test_a_table_keeps_its_rows_and_columns_and_gets_scores(of_sacrebleu: Any) -> None:
    pieces = pa.concat_tables([TABLE.slice(0, 70), TABLE.slice(70)])
    tables = [pieces, TABLE.slice(0, 0), TABLE.slice(99, 2).to_batches()[0]]
    found = found_in(tables, SegmentScores([*METRICS.values()], columns=COLUMNS))
    for table, scored in zip(tables, found, strict=True):
        assert isinstance(scored, pa.Table)
        assert scored.schema.names == [*TABLE.schema.names, *METRICS]
        assert scored.schema.metadata == TABLE.schema.metadata
        assert scored.select(TABLE.schema.names).to_pylist() == table.to_pylist()
        assert {scored.schema.field(name).type for name in METRICS} == {pa.float64()}
        ids = table.to_pydict()["id"]
        rows = scored.select([*METRICS]).to_pylist()
        assert_are(rows, [of_sacrebleu[number] for number in ids])


def test_a_segment_without_a_key_is_its_own_key() -> None:
    segment = ("a b c d e", ["a b c d f"])
    of_segments = BleuConfig(smooth_method="nltk-method5")  # no corpus can have it
    ((key, scores),) = found_in([segment], SegmentScores([of_segments]))
    assert key == segment
    assert 0 < scores["bleu"] < 100


class _InPlaces(beam.DoFn):
    """Gives each element its windows, its time and its pane."""

    def process(self, place: int) -> Iterator[WindowedValue]:
        windows = tuple(window.IntervalWindow(start, start + 10) for start in range(place, 7, 3))
        pane = PaneInfo(False, False, PaneInfoTiming.LATE, place, place)
        yield WindowedValue((place, SEGMENTS[place]), place, windows, pane)


def described(
    keyed: tuple[int, Any],
    of_window: Any = beam.DoFn.WindowParam,
    time: Any = beam.DoFn.TimestampParam,
    pane: Any = beam.DoFn.PaneInfoParam,
) -> tuple[Any, ...]:
    key, scores = keyed
    return key, scores, str(of_window), float(time), pane.index, pane.timing


def test_each_element_keeps_its_windows_its_time_and_its_pane(of_sacrebleu: Any) -> None:
    windowing = beam.WindowInto(window.SlidingWindows(10, 3))
    steps = [windowing, beam.ParDo(_InPlaces())]
    scoring = SegmentScores([*METRICS.values()])
    found = found_in([*range(7)], *steps, scoring, beam.Map(described))
    expected = found_in([*range(7)], *steps, beam.Map(described))
    assert [(key, *place) for key, _, *place in found] == [(k, *place) for k, _, *place in expected]
    scores = {key: of_segment for (key, of_segment, *_) in found}
    assert_are([scores[key] for key in range(7)], of_sacrebleu[:7])


def test_a_bundle_leaves_nothing_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_BATCH_SEGMENTS", 4)
    scoring = _ScoreElements(SegmentScores()._scored)
    scoring.setup()
    for bundle in range(2):
        scoring.start_bundle()
        given = []
        for number in range(10):
            element = GlobalWindows.windowed_value((number, SEGMENTS[number]), bundle)
            given.append(len(scoring.process(element.value, element)))
        assert given == [0, 0, 0, 4] * 2 + [0, 0], "a batch that is full goes on at once"
        last = scoring.finish_bundle()
        assert [value.value[0] for value in last] == [8, 9]
        assert {float(value.timestamp) for value in last} == {bundle}
    assert not scoring.finish_bundle()


def test_keys_keep_their_type() -> None:
    pipeline = beam.Pipeline(runner=FnApiRunner())
    segment = typehints.Tuple[str, typehints.List[str]]
    types = [
        (typehints.Tuple[int, segment], int),
        (segment, segment),
        (typehints.Tuple[str, Any], Any),  # perhaps a segment, or one with a key
        (Any, Any),
    ]
    for element, key in types:
        segments = pipeline | f"{element}" >> beam.Create([]).with_output_types(element)
        scores = segments | f"Score {element}" >> SegmentScores()
        assert scores.element_type == typehints.Tuple[key, typehints.Dict[str, Any]]
    tables = pipeline | beam.Create([]) | SegmentScores(columns=COLUMNS)
    assert tables.element_type == pa.Table


def test_what_is_impossible_is_refused_at_construction() -> None:
    assert "bleu_matches" in SegmentScores(details=True).schema.names
    with pytest.raises(ValueError, match="a metric needs the column"):
        SegmentScores(["perplexity"])
    with pytest.raises(ValueError, match="details must be True or False, got 1"):
        SegmentScores(details=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="columns must be ArrowColumns, got 'hyp'"):
        SegmentScores(columns="hyp")  # type: ignore[arg-type]


WRONG: list[tuple[Any, Any, str]] = [
    ("a", SegmentScores(), "an element is (candidate, [reference, ...]) or (key, (candidate"),
    (SEGMENTS[0], SegmentScores(columns=COLUMNS), "an element must be a pyarrow Table"),
    (
        TABLE.rename_columns(["id", "bleu", "refs", "note"]),
        SegmentScores(columns=ArrowColumns("bleu", "refs")),
        "a table already has a column 'bleu'",
    ),
]


def test_a_wrong_element_fails_the_job() -> None:
    anything = beam.Map(lambda given: given).with_output_types(Any)
    for element, transform, cause in WRONG:
        with pytest.raises(Exception, match=re.escape(cause)):
            found_in([element], anything, transform)
