"""The flags of a mean: none. Its column is a part of its name."""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag

FLAGS: tuple[MetricFlag, ...] = ()
