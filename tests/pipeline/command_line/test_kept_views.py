"""Tests the options of a pipeline that make each view once."""

from __future__ import annotations

import copy

from apache_beam.options.pipeline_options import (
    DirectOptions,
    PipelineOptions,
    StandardOptions,
    TypeOptions,
)

from beam_bleu.pipeline.command_line.kept_views import KeptViews


def test_a_view_is_made_once(monkeypatch):
    options = KeptViews(["--direct_num_workers=3"])
    first = options.view_as(DirectOptions)
    assert first.direct_num_workers == 3
    monkeypatch.setattr(PipelineOptions, "view_as", None)  # a second view would fail
    assert options.view_as(DirectOptions) is first


def test_views_share_their_values():
    options = KeptViews(["--streaming"])
    before = options.view_as(StandardOptions)
    assert before.streaming
    PipelineOptions.view_as(options, StandardOptions).streaming = False
    assert not before.streaming
    assert not options.view_as(StandardOptions).streaming
    assert options.view_as(TypeOptions).pipeline_type_check


def test_a_copy_has_its_own_values_in_all_of_its_views():
    # `beam.Pipeline` copies its options.
    options = KeptViews([])
    assert not options.view_as(StandardOptions).streaming
    copied = copy.deepcopy(options)
    copied.view_as(StandardOptions).streaming = True
    assert PipelineOptions.view_as(copied, StandardOptions).streaming
    assert not options.view_as(StandardOptions).streaming
