"""Options of a pipeline that are fast to ask."""

from __future__ import annotations

from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions


class KeptViews(PipelineOptions):
    """Options that make each view once.

    Beam asks for a view several times for each step. Each time it makes a parser of all flags of
    the view. Together this took more CPU than the rest of building a pipeline. All views share
    their values, so a view that was made earlier shows later changes.
    """

    def view_as(self, cls: type[Any]) -> Any:
        """These options as those of a class."""
        # Not as an attribute: Beam takes attributes for options.
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        return views[cls]
