"""The flags that define exact match and token F1: there are none."""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag

FLAGS: tuple[MetricFlag, ...] = ()
