"""What a reader of the scores must know of conditions: those that every record meets, or none."""

from __future__ import annotations

from beam_bleu.transforms.pairing.tally import Tally

_AS_JSON = "values are compared as JSON writes them, such as true (not True) or 2.0 (not 2)"


def condition_warnings(tally: Tally) -> list[str]:
    """A warning for each condition that tells no records from others.

    Perhaps the records have its value, but written in another way.
    """
    met_by_all = [
        f"every record meets --where {condition}, so it leaves nothing out; {_AS_JSON}"
        for condition, judged in tally.judged.items()
        if 0 < judged == tally.met.get(condition, 0)
    ]
    return met_by_all + unmet_conditions(tally)


def unmet_conditions(tally: Tally) -> list[str]:
    """A warning for each condition that no record meets."""
    return [
        f"no record meets --where {condition}; {_AS_JSON}"
        for condition, judged in tally.judged.items()
        if judged and not tally.met.get(condition, 0)
    ]
