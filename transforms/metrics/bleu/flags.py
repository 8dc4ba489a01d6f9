"""BLEU has no flags of this kind: those that define it depend on each other.

They are in `pipeline/command_line/definition_flags.py`.
"""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag

FLAGS: tuple[MetricFlag, ...] = ()
