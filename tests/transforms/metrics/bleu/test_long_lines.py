"""Lines of megabytes are counted exactly."""

import pytest
from sacrebleu_counts import counted

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig

MEGABYTES_10 = 10_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("candidate", "reference", "length", "matches"),
    [
        # Every symbol is a token, so all n-grams of the shorter text match.
        ("!" * MEGABYTES_10, "!" * (MEGABYTES_10 - 5), MEGABYTES_10, MEGABYTES_10 - 5),
        # One token.
        ("a" * MEGABYTES_10, "a" * MEGABYTES_10, 1, 1),
        ("a" * MEGABYTES_10, "a" * (MEGABYTES_10 - 1) + "b", 1, 0),
        # An even number of points: the last joins the digit after it, the others are alone.
        ("." * MEGABYTES_10 + "5", "...x", MEGABYTES_10, 3),
        # ... but not after a digit.
        ("5" + "." * MEGABYTES_10 + "5", "...5", MEGABYTES_10 + 2, 4),
        # Every hyphen is removed together with its newline.
        ("-\n" * (MEGABYTES_10 // 2) + "a", "a", 1, 1),
        (" " * MEGABYTES_10, "a", 0, 0),
    ],
    ids=["symbols", "token", "tokens", "even run", "digit and even run", "line ends", "blank"],
)
def test_degenerate_lines_of_ten_megabytes_are_exact(candidate, reference, length, matches):
    ours = counted([(candidate, [reference])], BleuConfig())[0]
    assert ours[0] == length
    assert ours[2:6].tolist() == [max(matches - n, 0) for n in range(4)]
