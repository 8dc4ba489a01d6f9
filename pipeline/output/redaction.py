"""Hides passwords and keys in a command line that is written to a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

HIDDEN = "***"
"""The text in place of a secret."""

_PARTS = (
    "accesskey",
    "accountkey",
    "apikey",
    "connectionstring",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "sharedkey",
    "signature",
    "token",
)
"""Parts of the names of secrets: small letters and digits, whatever else is between them."""

_WORDS = frozenset(
    [
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "cookies",
        "jwt",
        "key",
        "keys",
        "pass",
        "passcode",
        "pw",
        "sas",
        "sig",
    ]
)
"""Words in the names of secrets. A name is cut into words at `_`, `-`, `.`, and before capitals."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_IN_URL = re.compile(r"""(?<=://)(?:[^/\s"':@]*:(?!\d+/)[^\s"']*|[^/\s"']*)(?=@)""")
"""The user and the password in a URL. A password can have a `/` or an `@` that is not escaped."""

_URL = re.compile(r"""[\w.+-]+://[^\s"']+""")

_PARAMETER = re.compile(r"(?P<name>[?&;][\w.%-]+=)(?P<value>[^&;#]+)")
"""A parameter of a URL."""

_NAME = re.compile(r"""\\*["']?(?<![\w.-])[\w.-]+\\*["']?\s*[=:]\s*""")
"""The name in NAME=VALUE, NAME: VALUE and "NAME": "VALUE", also in JSON inside of JSON."""

_SECRET = re.compile(
    "|".join(
        [
            r'"(?:\\.|[^"\\])*"?',
            r"'(?:\\.|[^'\\])*'?",
            r"""(?P<quote>\\+["']).*?(?:(?P=quote)|$)""",
            r"[\[{].*",  # a list or an object: everything to the end
            rf".*?(?=[\s,;&{{}}]+{_NAME.pattern}|$)",  # up to the next name
        ]
    ),
    re.DOTALL,
)
"""The value of a secret. It is better to hide too much than to show a part of it."""


def redacted(words: Sequence[str], plain: frozenset[str]) -> list[str]:
    """The words of a command line, without the values that are secrets by their names.

    Args:
      words: the words.
      plain: flags whose values are never secrets, with all spellings. In their values, and in
        words without a flag, only secrets in URLs are hidden.
    """
    return list(_redacted(words, plain))


def without_url_secrets(text: str) -> str:
    """The text, without users, passwords and secret parameters in its URLs."""
    shown = _IN_URL.sub(HIDDEN, text)
    return _URL.sub(lambda match: _PARAMETER.sub(_without_value, match[0]), shown)


def _without_value(parameter: re.Match[str]) -> str:
    return parameter["name"] + HIDDEN if _is_secret(parameter["name"]) else parameter[0]


def _redacted(words: Sequence[str], plain: frozenset[str]) -> Iterator[str]:
    flag = ""  # the flag whose value can be the next word
    for word in words:
        name, equals, value = word.partition("=")
        is_value = flag not in plain and _is_secret(flag) and name not in plain
        if word.startswith("-"):
            # A password can begin with a minus. But the word can also be a flag with a value.
            flag = "" if equals else word
            if is_value:
                yield HIDDEN
            else:
                yield f"{name}={_value(name, value, plain)}" if equals else word
        else:
            yield _value(flag, word, plain)
            flag = ""


def _value(flag: str, value: str, plain: frozenset[str]) -> str:
    if not flag or flag in plain:
        return without_url_secrets(value)
    return HIDDEN if _is_secret(flag) else without_url_secrets(_without_named_secrets(value))


def _without_named_secrets(text: str) -> str:
    """The text, without the values after names of secrets."""
    shown, end = [], 0
    while match := _NAME.search(text, end):
        shown.append(text[end : match.end()])
        end = match.end()
        if _is_secret(match[0]):
            secret = _SECRET.match(text, end)
            assert secret is not None  # it also matches nothing
            if secret[0]:
                shown.append(HIDDEN)
            end = secret.end()
    return "".join([*shown, text[end:]])


def _is_secret(name: str) -> bool:
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    words = {word.lower() for word in _WORD.findall(name)}
    return any(part in letters for part in _PARTS) or not _WORDS.isdisjoint(words)
