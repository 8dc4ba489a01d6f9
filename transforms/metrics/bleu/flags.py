"""BLEU has no rows: its flags depend on each other, so they are code.

`pipeline/command_line/definition_flags.py` has them. A preset sets all of them, the value of a
smoothing method has another default for each method, weights set the largest order, and segments
can have a smoothing method of their own.
"""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag

FLAGS: tuple[MetricFlag, ...] = ()
