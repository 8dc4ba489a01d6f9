"""The names of systems: each one can be printed, and no two look the same."""

from __future__ import annotations

from collections.abc import Sequence

from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.shown_names import can_be_shown, look_alikes


def check_names(named: Sequence[tuple[str, str]], flag: str) -> None:
    """Checks the names of all systems.

    Args:
      named: each system's name and its path or pattern.
      flag: the flag that names systems: -i or --candidates.

    Raises:
      UsageError: a name cannot be printed, or two names look the same.
    """
    patterns: dict[str, str] = {}
    for name, pattern in named:
        if not can_be_shown(name):
            raise UsageError(
                f"the system name {name!r} cannot be shown",
                f"choose a name of printable characters: {flag} NAME=PATTERN",
            )
        if name != name.strip():
            raise UsageError(
                f"the system name {name!r} begins or ends with white space",
                f"remove the white space: {flag} NAME=PATTERN",
            )
        if name in patterns:
            raise UsageError(
                f"two systems are called {name}: {patterns[name]}, {pattern}",
                f"give each system its own name: {flag} NAME=PATTERN, such as "
                f"{flag} {name}-2={'<(COMMAND)' if pattern.startswith('/dev/fd/') else pattern}",
            )
        patterns[name] = pattern
    alike = look_alikes(patterns)
    if alike is not None:
        raise UsageError(
            f"two systems have names that look the same: {alike[0]!a} and {alike[1]!a}",
            f"give each system its own name: {flag} NAME=PATTERN",
        )
