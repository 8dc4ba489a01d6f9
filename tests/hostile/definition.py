"""Random metrics and definitions of BLEU, as flags and as arguments of sacreBLEU."""

from __future__ import annotations

import dataclasses
import random
from typing import Any


@dataclasses.dataclass(frozen=True)
class Definition:
    """A definition of BLEU; sacreBLEU has it if `reference_length` is `closest`."""

    tokenize: str = "13a"
    lowercase: bool = False
    max_ngram_order: int = 4
    smooth_method: str = "exp"
    smooth_value: float | None = None
    effective_order: bool = False
    reference_length: str = "closest"
    metrics: tuple[str, ...] = ("bleu",)

    @property
    def flags(self) -> list[str]:
        """The flags of the command; what is the default is left out."""
        flags = [] if self.metrics == ("bleu",) else ["--metrics", *self.metrics]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "metrics":
                continue
            if value is True:
                flags.append(f"--{field.name}")
            elif value != field.default:
                flags.append(f"--{field.name}={value}")
        return flags

    @property
    def sacrebleu_arguments(self) -> dict[str, Any]:
        """The arguments of sacreBLEU's BLEU."""
        arguments = dataclasses.asdict(self)
        del arguments["reference_length"], arguments["metrics"]
        return arguments


def make_definition(chooser: random.Random) -> Definition:
    method = chooser.choice(["exp", "exp", "floor", "add-k", "none"])
    values: dict[str, list[float | None]] = {
        "floor": [None, 0.01, 0.5],
        "add-k": [None, 1, 2, 0.5],
    }
    return Definition(
        tokenize=chooser.choice(["13a", "13a", "intl", "zh", "char", "none"]),
        lowercase=chooser.random() < 0.3,
        max_ngram_order=chooser.choice([4, 4, 4, 1, 2, 3, 5, 9, 16]),
        smooth_method=method,
        smooth_value=chooser.choice(values.get(method, [None])),
        effective_order=chooser.random() < 0.2,
        reference_length=chooser.choice(
            ["closest"] * 8 + ["closest_first", "shortest", "longest", "average"]
        ),
        metrics=chooser.choice([("bleu",), ("bleu",), ("bleu", "chrf"), ("chrf", "bleu")]),
    )
