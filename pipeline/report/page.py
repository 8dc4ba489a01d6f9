"""Makes the page: one HTML file that loads nothing, with its style and its charts inside.

The same results give the same bytes, with the same version of Jinja2. So there are no times, and no
paths but those that the results have.
"""

from __future__ import annotations

import functools
import pathlib
from typing import TYPE_CHECKING, Any

from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.table import is_numeric
from beam_bleu.pipeline.report.charts import SHAPES
from beam_bleu.pipeline.report.examples import JOINERS, groups, heading, texts
from beam_bleu.pipeline.report.facts import facts
from beam_bleu.pipeline.report.figures import places, reasons, standing
from beam_bleu.pipeline.report.past import past
from beam_bleu.pipeline.report.results import ReportedResult
from beam_bleu.pipeline.report.sentences import UNCERTAINTY, measure_of
from beam_bleu.pipeline.result.saved_result import named_if_damaged
from beam_bleu.transforms.errors import UsageError, installing, joined

if TYPE_CHECKING:
    import jinja2

    from beam_bleu.pipeline.history.history import History

_FOLDER = pathlib.Path(__file__).parent

_NAMED_SYSTEMS = 3


def require_jinja2() -> None:
    """Checks that the library is there that makes the page.

    Raises:
      UsageError: it is not installed.
    """
    import importlib.util

    if importlib.util.find_spec("jinja2") is None:
        raise UsageError(
            "a report needs the library jinja2, which is not installed", installing("report")
        )


def page(result: ReportedResult, history: History | None = None) -> bytes:
    """The page of a result.

    Args:
      result: the result.
      history: that of several results, of which this is the last one; None without one.

    Raises:
      UsageError: jinja2 is not installed.
      InputError: the result is damaged.
    """
    require_jinja2()
    with named_if_damaged(result.saved.name):
        text = _text(result, history)
    # A document can have lone surrogates, for bytes of paths that are not UTF-8.
    return text.encode("utf-8", "backslashreplace")


def _text(reported: ReportedResult, history: History | None) -> str:
    result = reported.saved.result
    measures = {metric.metric: measure_of(metric) for metric in result.metrics}
    names, systems = [metric.name for metric in result.metrics], result.systems
    shown = joined(systems) if len(systems) <= _NAMED_SYSTEMS else f"{len(systems)} systems"
    text: str = _template().render(
        title=f"{joined(names, len(names))} of {shown}",
        history=history,
        past=[] if history is None else [*past(history)],
        standing=[*standing(result)],
        uncertainty=UNCERTAINTY if any(row.interval for row in result.scores) else "",
        places=[*places(result)],
        reasons=[*reasons(result)],
        examples=groups(reported.examples, measures),
        measures=measures,
        facts=[*facts(reported)],
        warnings=result.all_warnings,
    )
    return text


@functools.cache
def _template() -> jinja2.Template:
    import jinja2
    import markupsafe

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # All texts come through here. The page shows what is invisible, or obeyed, as an escape.
        finalize=_shown,
    )
    environment.tests["numeric"] = is_numeric
    style = markupsafe.Markup((_FOLDER / "style.css").read_text(encoding="utf-8"))
    environment.globals.update(shapes=SHAPES, heading=heading, texts=texts, style=style)
    return environment.get_template("page.html.jinja")


def _shown(value: Any) -> Any:
    """A text with its invisible characters as escapes. The parts of the page itself stay."""
    import markupsafe

    if isinstance(value, str) and not isinstance(value, markupsafe.Markup):
        return printable(value, keep=f"\n{JOINERS}")
    return value
