"""Terminals for tests: a pseudo-terminal as stderr, and what a person would see on it."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import struct
import sys
import termios
import threading
from collections.abc import Iterator

_CODE = re.compile(r"\x1b\[(\d*(?:;\d+)*)([A-Za-z])")


class Terminal:
    """A pseudo-terminal.

    Attributes:
      written: everything that was written to it.
    """

    def __init__(self, columns: int) -> None:
        self.written = b""
        self._ours, self.theirs = pty.openpty()
        self.resize(columns)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def resize(self, columns: int) -> None:
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, size)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the end, on Linux
            while data := os.read(self._ours, 1 << 16):
                self.written += data

    def close(self) -> None:
        """Ends reading. Everything is in `written` then."""
        os.close(self.theirs)
        self._reader.join()
        os.close(self._ours)

    @property
    def text(self) -> str:
        # The last character may have come in part: a terminal passes on bytes.
        return codecs.getincrementaldecoder("utf-8")().decode(self.written)

    @property
    def states(self) -> list[str]:
        """All texts that the last line has had, without colours."""
        plain = _CODE.sub(lambda code: "" if code[2] == "m" else code[0], self.text)
        return re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", plain)

    @property
    def screen(self) -> list[str]:
        """The lines that a person sees at the end."""
        return screen(self.text)


def screen(text: str) -> list[str]:
    """What a terminal shows after a text with the few codes that the command uses."""
    lines, column, at = [""], 0, 0
    while at < len(text):
        code = _CODE.match(text, at)
        if code:
            assert code[2] in "mK", code[0]
            if code[2] == "K":
                assert code[1] == "", "only to the end of the line"
                lines[-1] = lines[-1][:column]
            at = code.end()
            continue
        each = text[at]
        if each == "\r":
            column = 0
        elif each == "\n":
            lines.append("")
            column = 0
        else:
            assert each.isprintable(), ascii(each)
            lines[-1] = lines[-1][:column].ljust(column) + each + lines[-1][column + 1 :]
            column += 1
        at += 1
    return lines


@contextlib.contextmanager
def stderr_on_a_terminal(monkeypatch, columns: int = 80) -> Iterator[Terminal]:
    """While the body runs, stderr is a terminal of this width. It is complete afterwards."""
    terminal = Terminal(columns)
    monkeypatch.setenv("TERM", "xterm-256color")
    before = sys.stderr
    with os.fdopen(os.dup(terminal.theirs), "w", encoding="utf-8") as stream:
        sys.stderr = stream
        try:
            yield terminal
        finally:
            sys.stderr = before
    terminal.close()
