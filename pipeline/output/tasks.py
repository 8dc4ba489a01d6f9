"""The tasks of a corpus that have no common score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.pipeline.scoring.scorings import Scorings
from beam_bleu.transforms.errors import InputError, joined


def tasks_of(scorings: Scorings, slices: Iterable[Mapping[str, str | None]]) -> list[str]:
    """The tasks, if there are several that have no common score; otherwise none.

    Args:
      scorings: the scorings, which say whether tasks have a common score.
      slices: the labels of all slices and their values, in the order of the result.
    """
    label = scorings.unpooled
    if label is None:
        return []
    found = dict.fromkeys(str(each[label]) for each in slices if label in each)
    return list(found) if len(found) > 1 else []


def require_no_common_score(tasks: Sequence[str], scorings: Scorings, evidence: Evidence) -> None:
    """Checks that nothing is asked for that only a common score of all tasks could give.

    Raises:
      InputError: something is.
    """
    asked = {
        "--compare_presets": bool(scorings.presets),
        "--resample": evidence.resampling is not None,
    }
    for flag, is_asked in asked.items():
        if is_asked:
            raise InputError(
                f"{flag} is about the score of the whole corpus, and the input has {len(tasks)} "
                f"tasks, which have no common score: {joined(tasks)}",
                "name the file of one task; or add --pool_tasks to score all tasks together",
            )


def require_one_task_of_each_language(
    scorings: Scorings, slices: Iterable[Mapping[str, str | None]]
) -> None:
    """Checks that no language has the segments of several tasks, which have no common score.

    Args:
      scorings: the scorings, with a label of languages and a label of tasks.
      slices: the labels of all slices and their values.

    Raises:
      InputError: a language has segments of several tasks.
    """
    tasks_of_language: dict[str | None, str] = {}
    for labels in slices:
        if {*labels} == {scorings.languages, scorings.unpooled}:
            language, task = labels[str(scorings.languages)], str(labels[str(scorings.unpooled)])
            other = tasks_of_language.setdefault(language, task)
            if other != task:
                raise InputError(
                    f"the language {language} has segments of the tasks {other} and {task}, which "
                    "have no common score",
                    "leave out --language_column, or name the files of one of these tasks; or add "
                    "--pool_tasks to score all tasks of a language together",
                )
