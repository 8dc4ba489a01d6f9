"""Hides passwords and keys in a command line that is written to a file."""

from __future__ import annotations

import re
from collections.abc import Sequence

HIDDEN = "***"

# A part of the name of a secret.
_SECRET = re.compile(
    r"secret|token|passw|passphrase|pwd|credential|signature|jwt|cookie|bearer|authorization"
    r"|(?:access|account|api|private|shared)_?key|connection_?string"
    r"|(?:^|[-_.])(?:auth|keys?|pass|passcode|pw|sas|sig)(?:$|[-_.])",
    re.IGNORECASE,
)

# The name in NAME=VALUE, NAME: VALUE and "NAME": "VALUE", also in JSON inside of JSON.
_NAME = re.compile(r"""([\w.-]+)[\\"']*\s*[=:]""")

# The user and the password in a URL. A password can have a `/` or an `@` that is not escaped.
_USER = re.compile(r"""(?<=://)(?:[^/\s"':@]*:(?!\d+/)[^\s"']*|[^/\s"']*)(?=@)""")

_PARAMETER = re.compile(r"""([?&]([\w.%-]+)=)[^&#\s"']+""")


def redacted(words: Sequence[str], plain: frozenset[str]) -> list[str]:
    """The words of a command line, without the values that are secrets by their names.

    A value that has the name of a secret in it, as a part of JSON, is hidden as a whole. Of flags
    that are `plain`, in all spellings, and of words without a flag, only secrets in URLs are
    hidden.
    """
    shown, flag = [], ""  # the flag whose value can be the next word
    for word in words:
        name, equals, value = word.partition("=")
        is_flag = word.startswith("-")
        # A password can begin with a minus.
        if _SECRET.search(flag) and name not in plain:
            shown.append(HIDDEN)
        elif is_flag:
            shown.append(name + equals + _value("" if name in plain else name, value))
        else:
            shown.append(_value(flag, word))
        flag = word if is_flag and not equals and word not in plain else ""
    return shown


def without_url_secrets(text: str) -> str:
    return _PARAMETER.sub(
        lambda match: match[1] + HIDDEN if _SECRET.search(match[2]) else match[0],
        _USER.sub(HIDDEN, text),
    )


def _value(flag: str, value: str) -> str:
    if flag and value and any(map(_SECRET.search, [flag, *_NAME.findall(value)])):
        return HIDDEN
    return without_url_secrets(value)
