"""Putting a run's result in place: scores.json and the segment scores of one and the same run.

No filesystem replaces several files at once. So a run first moves the former scores.json
and the former shards aside, then its own shards into their place, and writes scores.json
last. While that lasts there is no scores.json, which is what a reader goes by: a scores.json
and segment scores of different runs are never seen together.

    DIR/.segment_scores/RUN/former/     the former result, while RUN replaces it

On this machine a lock keeps two runs from doing this at the same time, and whoever has it
knows that a `former` folder is of a run that was killed: with a scores.json that run was
done, and its leftovers are removed; without one the former result is put back. Where there
is no lock (object stores, HDFS), a run looks at the end whether the result is its own.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence

from apache_beam.io.filesystems import FileSystems

from beam_bleu.pipeline import storage
from beam_bleu.pipeline.locking import locked
from beam_bleu.pipeline.output import SCORES, scores_path
from beam_bleu.pipeline.receipt import RECEIPT
from beam_bleu.pipeline.segment_shards import ASIDE, final_folder, run_of, staging_folder
from beam_bleu.pipeline.shard_folder import check_places, look_through, notes_on
from beam_bleu.transforms.errors import JobError

_PATIENCE_OF_A_FAILED_RUN = 2.0
"""Seconds: whoever has stopped a run waits for its end."""

_DEAD = 14 * 24 * 3600.0
"""Seconds without a new file after which a run that left something has certainly ended."""

_TEMPORARY = re.compile(rf"\.({re.escape(SCORES)}|{re.escape(RECEIPT)})\.[0-9a-f]{{32}}")


def former_folder(output: str, run: str) -> str:
    """Where the former result is while a run replaces it."""
    return FileSystems.join(output, ASIDE, run, "former")


def prepare(output: str, asked: bool) -> list[str]:
    """Makes an output folder ready for a run, before anything is scored.

    What a run that was killed has left half done is taken back.

    Args:
      output: the job's folder.
      asked: whether the job writes segment scores.

    Returns:
      notes for whoever runs the job.

    Raises:
      JobError: its segment scores would be among other files, or what a former run left there
        cannot be read, so that the run could not replace it.
    """
    check_places(output, asked)
    # With the lock: a run that ends meanwhile moves shards away.
    with locked(output) as held:
        if held:
            with storage.writing(output):
                _recover(output)
        return notes_on(output, look_through(output, asked))


@contextlib.contextmanager
def in_place(
    output: str, run: str, shards: Sequence[str], document: bytes | None = None
) -> Iterator[None]:
    """Puts a run's shards in the place of any former ones; takes that back if the body fails.

    The body writes scores.json. All of it can be done again, whatever an attempt before
    has left. Files of others stay where they are.

    Args:
      output: the job's folder.
      run: the run's name.
      shards: the names of its shards; none if it has no segment scores.
      document: what scores.json will have.

    Raises:
      JobError: the shards cannot be put in place, or another run did the same at the same time.
    """
    final = final_folder(output)
    with locked(output) as held:
        check_places(output, asked=bool(shards))
        if held:
            with storage.writing(output):
                _recover(output)
        try:
            with storage.writing(final):
                own = look_through(output, asked=bool(shards)).own
                foreign = set(storage.names(final)) - set(own)
                former = sorted(set(own) - set(shards))
                if shards or former:
                    _replace(output, run, shards, former)
            yield
            if held and document is not None:
                _check_written(output, document)
        except BaseException:
            with contextlib.suppress(Exception):
                _settle(output, run)
            raise
        _check_whole(output, set(shards), foreign, document)
        # The result is there: what cannot be removed now does no harm, and a later run tries again.
        with contextlib.suppress(Exception):
            _forget_former(output, run)
            _remove_staged(output, run)
            if not shards:
                storage.remove_if_empty(final)
            storage.remove_if_empty(FileSystems.join(output, ASIDE))
            _remove_dead(output)


def discard(output: str, run: str) -> None:
    """Removes what a run that failed has staged, as far as that is possible."""
    aside = FileSystems.join(output, ASIDE)
    if storage.is_local(output) and not os.path.isdir(os.path.join(aside, run)):
        return
    with contextlib.suppress(Exception):
        try:
            # With the lock, so that the last step, which may run still, is done or not begun.
            with locked(output, _PATIENCE_OF_A_FAILED_RUN):
                _settle(output, run)
                _remove_staged(output, run)
        except JobError:
            # Another run has the lock. What this one has begun to replace, a later run settles.
            if not storage.is_folder(former_folder(output, run)):
                _remove_staged(output, run)
        storage.remove_if_empty(aside)


def _replace(output: str, run: str, shards: Sequence[str], former: Sequence[str]) -> None:
    final, staged = final_folder(output), staging_folder(output, run)
    aside = former_folder(output, run)
    storage.make_folder(aside)
    if SCORES not in storage.names(aside) and storage.exists(scores_path(output)):
        storage.move([SCORES], output, aside)
    storage.move(former, final, aside)
    waiting = set(storage.names(staged))
    storage.move([name for name in shards if name in waiting], staged, final)
    missing = set(shards) - set(storage.names(final))
    if missing:
        raise JobError(
            f"{len(missing)} of {len(shards)} shards of segment scores have been removed from "
            f"{staged}",
            "run the job again, and let nothing else remove files from --output",
        )


def _settle(output: str, run: str) -> None:
    """Ends what a run has begun to put in place: whether it was done, scores.json tells."""
    if storage.exists(scores_path(output)):
        _forget_former(output, run)
    else:
        _put_back_former(output, run)


def _forget_former(output: str, run: str) -> None:
    former = former_folder(output, run)
    storage.remove_files(former, [name for name in storage.names(former) if _is_ours(name)])
    storage.remove_if_empty(former)


def _put_back_former(output: str, run: str) -> None:
    final, former = final_folder(output), former_folder(output, run)
    if storage.is_local(output) and not storage.is_folder(former):
        return  # the run has not begun to replace it
    own = [name for name in storage.names(final) if run_of(name) == run]
    storage.move(own, final, staging_folder(output, run))
    found = [name for name in storage.names(former) if _is_ours(name)]
    storage.move([name for name in found if name != SCORES], former, final)
    storage.move([name for name in found if name == SCORES], former, output)
    storage.remove_if_empty(former)


def _is_ours(name: str) -> bool:
    """Whether a file among a former result is part of it."""
    return name == SCORES or run_of(name) is not None


def _remove_staged(output: str, run: str) -> None:
    # The only folder of which all is removed: nobody else can have one of this name.
    storage.remove(staging_folder(output, run))
    storage.remove_if_empty(FileSystems.join(output, ASIDE, run))


def _recover(output: str) -> None:
    """Settles what runs that were killed have begun; only for who holds the lock."""
    for run in storage.folders(os.path.join(output, ASIDE)):
        former = former_folder(output, run)
        try:
            has_begun = storage.is_folder(former) and not os.path.islink(former)
        except JobError:
            # Another user's run. Where there is a scores.json, no former result is missing.
            if not storage.exists(scores_path(output)):
                raise
            continue
        if has_begun:
            _settle(output, run)


def _is_there(output: str, document: bytes) -> bool:
    path = scores_path(output)
    with storage.reading(path):
        return storage.exists(path) and storage.read(path) == document


def _check_written(output: str, document: bytes) -> None:
    # With the lock, no other run has replaced it. An older one must not pass for this run's.
    if not _is_there(output, document):
        raise JobError(
            f"the job wrote no {scores_path(output)}, or something else has replaced it",
            "let nothing else write to --output",
        )


def _check_whole(output: str, own: set[str], foreign: set[str], document: bytes | None) -> None:
    """Checks that scores.json and the shards in place are of one run.

    Another run may have replaced both in the meantime: then that one checks its own.

    Raises:
      JobError: some of the files are another run's.
    """
    there = set(storage.names(final_folder(output))) - foreign
    is_ours = document is None or _is_there(output, document)
    if (is_ours and there != own) or (not is_ours and there & own):
        raise JobError(
            f"another run wrote its result to {output} at the same moment: the files there are "
            "of both",
            "run one of them again; on this filesystem each run needs an --output of its own",
        )


def _remove_dead(output: str) -> None:
    """Removes what runs have left that were killed long ago; only files named as theirs are."""
    aside = FileSystems.join(output, ASIDE)
    # Written just now: the filesystem's clock may be another than ours.
    then = FileSystems.last_updated(scores_path(output)) - _DEAD
    left: dict[str, list[storage.Entry]] = {}
    for entry in storage.listed(aside):
        left.setdefault(entry.name.partition("/")[0], []).append(entry)
    for run, entries in left.items():
        removed = [entry.name for entry in entries if _is_left_by(run, entry.name)]
        if removed and all(0 < entry.modified < then for entry in entries):
            storage.remove_files(aside, removed)
            for folder in ("staged", "former", ""):
                storage.remove_if_empty(FileSystems.join(aside, run, folder))
    storage.remove_if_empty(aside)
    if storage.is_local(output):
        temporary = filter(_TEMPORARY.fullmatch, os.listdir(output))
        for path in (os.path.join(output, name) for name in temporary):
            if os.path.isfile(path) and os.lstat(path).st_mtime < then:
                os.unlink(path)


def _is_left_by(run: str, path: str) -> bool:
    """Whether a file in the hidden folder is called as a run calls its own."""
    folder, _, name = path.removeprefix(f"{run}/").rpartition("/")
    if folder == "staged":
        return run_of(name) == run
    if folder == "former":
        return _is_ours(name)
    return not folder and (name == RECEIPT or bool(_TEMPORARY.fullmatch(name)))
