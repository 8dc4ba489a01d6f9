"""Labels that come from the path of a file: all segments of a file have the same one."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

from beam_bleu.transforms.errors import InputError, joined

_WHOLE_NAME = ("*", ".*", ".+")  # the ways to write a group that matches any text within one name

_GLOB = re.compile(r"\*\*|\*|\?|\[[^\]/]+\]|\(|\)|\||[^*?()|]")


@dataclasses.dataclass(frozen=True)
class PathLabel:
    """A label whose value is what the one group of `regex` matches in a path. With `has_one_file`,
    two files with one value are refused: they would be two versions of the same segments.
    """

    name: str
    pattern: str
    regex: str
    has_one_file: bool = False

    def value_of(self, path: str) -> str | None:
        match = re.search(self.regex, path)
        if match is None or not match[1]:
            return None
        # A path can have bytes that are not UTF-8, and labels are UTF-8.
        return match[1].encode(errors="backslashreplace").decode()

    def check_files(self, label: str, paths: Sequence[str]) -> None:
        if not self.has_one_file:
            return
        file_of: dict[str | None, str] = {}
        for path in paths:
            other = file_of.setdefault(self.value_of(path), path)
            if other != path:
                raise InputError(
                    f"{label}: two files are of the {self.name} {self.value_of(path)}: "
                    f"{other}, {path}",
                    "name the files of one run; to compare runs, join them: see --join_on",
                )

    def agreed(self, files: Sequence[tuple[str, str]]) -> str:
        """The one value for segments whose texts are in these files, each a stream and a path."""
        matching = [(label, path, value) for label, path in files if (value := self.value_of(path))]
        if not matching:
            paths = joined([path for _, path in files])
            raise InputError(
                f"no path matches --label_from_path {self.name}={self.pattern}: {paths}",
                "change the pattern: * is any text within one name, and (...) must match some text",
            )
        label, path, value = matching[0]
        for other_label, other_path, other in matching[1:]:
            if other != value:
                raise InputError(
                    f"the files of the same lines have different values of the label {self.name}: "
                    f"{value!r} in {path} ({label}), {other!r} in {other_path} ({other_label})",
                    "write a pattern that only the files of one stream match",
                )
        return value


def path_label(text: str) -> PathLabel:
    """The label of NAME=PATTERN, with the value in parentheses. `*` is any text within one name,
    `**` any text. The pattern can begin at any name of the path, and its last name must match as a
    whole. The last match counts.
    """
    name, equals, pattern = text.partition("=")
    remedy = "write NAME=PATTERN, such as domain='news/*/(*)/', with one part in parentheses"
    if not equals or not name.strip() or not pattern:
        raise ValueError(f"must be NAME=PATTERN, got {text!r}; {remedy}")
    parts = re.fullmatch(r"([^()]*)\(([^()]*)\)([^()]*)", pattern)
    if parts is None:
        raise ValueError(f"the pattern {pattern!r} must have one part in parentheses; {remedy}")
    before, group, after = parts.groups()
    group = "*" if group in _WHOLE_NAME else group
    body = "".join(
        [*_translated(before), "(", *_translated(group, in_group=True), ")", *_translated(after)]
    )
    begin = ".*" if before.startswith("/") else "(?:.*/)?"
    end = "" if after.endswith("/") else "(?=/|$)"
    regex = f"(?s)^{begin}{body}{end}"  # the beginning takes all it can, so the last match counts
    try:
        re.compile(regex)
    except re.error as error:
        raise ValueError(f"the pattern {pattern!r} cannot be read: {error}; {remedy}") from error
    return PathLabel(name.strip(), pattern, regex)


def _translated(glob: str, *, in_group: bool = False) -> Iterator[str]:
    wildcards = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    for part in _GLOB.findall(glob):
        if part in wildcards:
            yield wildcards[part]
        elif part == "|" and in_group:
            yield part
        elif len(part) > 1:
            negated = part[1] == "!"
            characters = re.sub(r"([\\^\[])", r"\\\1", part[1 + negated : -1])
            yield f"[^/{characters}]" if negated else f"[{characters}]"
        else:
            yield re.escape(part)
