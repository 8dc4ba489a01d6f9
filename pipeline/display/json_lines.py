"""Lines of stderr as JSON, for programs that collect logs: an object on each line."""

from __future__ import annotations

import contextlib
import logging
import platform
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, ClassVar, Literal

from beam_bleu.pipeline.display.printable import json_text

LogFormatName = Literal["text", "json"]

LOG_FORMATS: Mapping[LogFormatName, str] = {
    "text": "lines for people",
    "json": "a JSON object on each line, with time, level, message, run and host",
}
"""The values of --log_format, and what each of them makes of stderr."""

_TRACEBACKS = logging.Formatter()


class JsonLines:
    """Makes the lines.

    Attributes:
      run: the name of the run, as run.json has it; None before it is known, and for commands that
        are no runs.
    """

    current: ClassVar[JsonLines | None] = None
    """That of this process, if its stderr has such lines."""

    def __init__(self) -> None:
        self.run: str | None = None
        self._host = platform.node()

    @classmethod
    @contextlib.contextmanager
    def of(cls, name: LogFormatName) -> Iterator[None]:
        """While the body runs, stderr has this format."""
        before = cls.current
        cls.current = cls() if name == "json" else None
        logging.captureWarnings(name == "json")  # Python would print them as text
        try:
            yield
        finally:
            cls.current = before
            logging.captureWarnings(False)

    def line(self, level: str, message: str, **more: Any) -> str:
        """A line, without its end.

        Args:
          level: debug, info, warning, error or critical.
          message: the message.
          more: other keys.
        """
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        fields = {
            "time": now.replace("+00:00", "Z"),
            "level": level,
            "message": message,
            "run": self.run,
            "host": self._host,
        }
        return json_text(fields | more)

    def of_record(self, record: logging.LogRecord) -> str:
        """The line of a log record."""
        more: dict[str, Any] = {"logger": record.name}
        if record.exc_info:
            more["traceback"] = _TRACEBACKS.formatException(record.exc_info)
        return self.line(record.levelname.lower(), record.getMessage(), **more)
