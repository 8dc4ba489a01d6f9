"""Puts a run's result in place: its documents and its part files are always of the same run.

Part files are the files of segment scores and those of rejected records. No filesystem can replace
several files at once. So a run first moves the previous documents (scores.json, manifest.json,
totals.json and examples.jsonl) and the previous part files to a hidden folder. Then it moves its
own part files into their place, and writes its documents, scores.json last. Until then there is no
scores.json. A reader who waits for scores.json therefore never sees the scores.json of one run with
the segment scores of another. Without part files the previous scores.json is not moved, but
replaced in one step.

    DIR/.segment_scores/RUN/former/     the previous result, while RUN replaces it

At the very end the run writes the empty file _SUCCESS. Every run removes it when it starts. So
where it is, the other files are the complete result of one run, and no run has started since.

On this machine and in object stores a lock stops two runs from doing this at the same time. A lock
in an object store can be lost (see `locking.py`), so a run checks it before each step. If the run
that holds the lock finds a `former` folder, another run was killed while it replaced the result. If
there is a new scores.json, that run was done, and the folder is removed. If there is no
scores.json, or if it is the one that the previous manifest.json names, the previous result is put
back. On a filesystem without locks (HDFS), a run checks at the end that the result is its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import (
    BESIDE_SCORES,
    DOCUMENTS,
    EXAMPLES,
    MANIFEST,
    OF_RUN,
    REPORT,
    SCORES,
    SUCCESS,
    TOTALS,
)
from beam_bleu.pipeline.output.locking import check_held, check_of, locked
from beam_bleu.pipeline.output.manifest import belongs_to, names_examples
from beam_bleu.pipeline.output.output_folder import (
    aside_folder,
    examples_path,
    final_folder,
    former_folder,
    is_of_result,
    is_part_file_of,
    manifest_path,
    remove_leftovers,
    report_path,
    run_folder,
    run_of_rejected,
    scores_path,
    staging_folder,
    success_path,
    totals_path,
)
from beam_bleu.pipeline.output.ownership import (
    check_owned,
    check_places,
    is_report_owned,
    look_through,
    rejected_files,
)
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.object_store_kinds import kind_of
from beam_bleu.transforms.wiring.filesystems import is_local, join

_PATIENCE_OF_A_FAILED_RUN = 2.0
"""Seconds: the person who stopped a run is waiting for it to end."""


def prepare(
    output: str,
    asked: bool,
    begin: Callable[[], None] = lambda: None,
    *,
    rejecting: bool = False,
) -> list[str]:
    """Makes an output folder ready for a run, before anything is scored.

    It removes _SUCCESS. If a run was killed while it replaced the result, the previous result is
    put back.

    Args:
      output: the job's folder.
      asked: whether the job writes segment scores.
      begin: called when it is known that the run may use the folder, before anything is changed.
      rejecting: whether the job writes rejected records.

    Returns:
      notes for the person who runs the job.

    Raises:
      JobError: the folder or that of the segment scores has files of another program, or the
        run could not replace files of an earlier run, because it cannot read them.
    """
    # With the lock, because a run that ends at the same time moves part files away.
    with locked(output) as held:
        check_owned(output)
        begin()
        remove_success(output)
        check_places(output, asked)
        if held:
            with storage.writing(output):
                _recover(output)
        rejected_files(output, rejecting)
        look_through(output, asked)
    notes = []
    if not held and kind_of(output) is not None:
        notes.append(
            f"{output}: this object store does not heed conditions, so there is no lock: let no "
            "two runs into this folder end at the same time"
        )
    return notes


@contextlib.contextmanager
def in_place(
    output: str,
    run: str,
    part_files: Sequence[str],
    documents: Mapping[str, bytes],
    rejected: Sequence[str] = (),
    *,
    ran: bool = True,
) -> Iterator[None]:
    """Replaces the result of an earlier run with that of this run, and undoes it on failure.

    The body writes the documents (`write_documents`). All of this can run again after any
    earlier attempt. Files that are not beam-bleu's stay in place.

    Args:
      output: the job's folder.
      run: the run's name.
      part_files: the names of its part files of segment scores; empty if it has none.
      documents: the content of each document. Names are in `DOCUMENTS`. Without a manifest the
        folder is a temporary one, and gets no _SUCCESS.
      rejected: the names of its files of rejected records.
      ran: whether a run has made the result. It writes its own run.json and metrics.prom. If none
        ran, those of an earlier run are removed: they would tell of another result.

    Raises:
      JobError: the part files cannot be put in place, or another run did the same at the same time.
    """
    final = final_folder(output)
    with locked(output, run=run) as held:
        if MANIFEST in documents:
            check_owned(output)
            remove_success(output)
        check_places(output, asked=bool(part_files))
        if held:
            with storage.writing(output):
                _recover(output)
        try:
            with storage.writing(final):
                own = look_through(output, asked=bool(part_files))
                foreign = set(storage.names(final)) - set(own)
                replaced = (
                    _Replaced(final, part_files, own),
                    _Replaced(output, rejected, rejected_files(output, asked=bool(rejected))),
                )
                has_part_files = any(of_kind.new or of_kind.former for of_kind in replaced)
                _move_documents(output, run, DOCUMENTS if has_part_files else BESIDE_SCORES)
                if has_part_files:
                    _replace(output, run, replaced)
            yield
            if held:
                _check_written(output, documents)
        except BaseException:
            with contextlib.suppress(Exception):
                check_held(output)  # the run that has taken over the lock settles this one
                _settle(output, run)
                _remove_beside_scores(output, documents)
            raise
        check_held(output)
        own_files = set(part_files), set(rejected)
        if _check_whole(output, own_files, foreign, documents) and MANIFEST in documents:
            if not ran:
                _remove_of_run(output)
            _remove_report(output)
            storage.write_atomically(success_path(output), b"")
        # The result is in place. If a file cannot be removed now, a later run tries again.
        with contextlib.suppress(Exception):
            check_held(output)
            _forget_former(output, run)
            _remove_staged(output, run)
            if not part_files:
                storage.remove_if_empty(final)
            storage.remove_if_empty(aside_folder(output))
            remove_leftovers(output)


def write_documents(output: str, documents: Mapping[str, bytes]) -> None:
    """Writes the documents of a result, in the order of `DOCUMENTS`.

    Raises:
      JobError: one of them cannot be written.
    """
    for name in DOCUMENTS:
        if name in documents:
            check_held(output)
            storage.write_atomically(join(output, name), documents[name])


def discard(output: str, run: str) -> None:
    """Removes the staged files of a failed run, as far as possible."""
    aside = aside_folder(output)
    if is_local(output) and not os.path.isdir(os.path.join(aside, run)):
        return
    with contextlib.suppress(Exception):
        try:
            # The last step may still be running. With the lock, it has ended or not yet begun.
            with locked(output, _PATIENCE_OF_A_FAILED_RUN, run):
                _settle(output, run)
                _remove_staged(output, run)
        except JobError:
            # Another run has the lock. If this run has begun to replace files, a later run
            # settles it.
            if not storage.is_folder(former_folder(output, run)):
                _remove_staged(output, run)
        storage.remove_if_empty(aside)


def remove_success(output: str) -> None:
    """Removes the sign that the last run was successful.

    Raises:
      JobError: it cannot be removed.
    """
    with storage.writing(success_path(output)):
        if storage.exists(success_path(output)):
            storage.remove_files(output, [SUCCESS])


def _remove_of_run(output: str) -> None:
    """Removes what an earlier run has written about itself."""
    with storage.writing(output):
        there = [name for name in OF_RUN if storage.exists(join(output, name))]
        storage.remove_files(output, there)


def _remove_report(output: str) -> None:
    """Removes the page about an earlier result. The launcher of this run can write a new one."""
    path = report_path(output)
    if is_report_owned(path):
        with storage.writing(path):
            storage.remove_files(output, [REPORT])


def _move_documents(output: str, run: str, moved: Sequence[str]) -> None:
    """Moves the documents of the previous result aside."""
    aside = former_folder(output, run)
    if set(DOCUMENTS) & set(storage.names(aside)):
        return  # an earlier attempt has done it, and the documents in place may be its own
    for name in reversed(moved):  # first scores.json
        if storage.exists(join(output, name)):
            _move(output, [name], output, aside)


def _move(output: str, moved: Sequence[str], source: str, to: str) -> None:
    """Moves files of a result. A lock that is lost in the meantime ends it."""
    storage.move(moved, source, to, check_of(output))


class _Replaced:
    """The part files of one kind.

    Args:
      folder: their folder.
      new: the names of the part files of this run.
      there: the names of all part files in the folder.

    Attributes:
      former: the names of the part files that they replace.
    """

    def __init__(self, folder: str, new: Sequence[str], there: Sequence[str]) -> None:
        self.folder = folder
        self.new = new
        self.former = sorted(set(there) - set(new))


def _replace(output: str, run: str, replaced: Sequence[_Replaced]) -> None:
    staged, aside = staging_folder(output, run), former_folder(output, run)
    storage.make_folder(aside)
    for of_kind in replaced:
        _move(output, of_kind.former, of_kind.folder, aside)
    waiting = set(storage.names(staged))
    for of_kind in replaced:
        own = [name for name in of_kind.new if name in waiting]
        _move(output, own, staged, of_kind.folder)
        missing = set(of_kind.new) - waiting
        if missing:  # an earlier attempt of the last step may have moved them
            missing -= set(storage.names(of_kind.folder))
        if missing:
            kind = "rejected records" if of_kind.folder == output else "segment scores"
            raise JobError(
                f"{len(missing)} of {len(of_kind.new)} files of {kind} have been removed from "
                f"{staged}",
                "run the job again, and make sure that nothing else removes files from --output",
            )


def _settle(output: str, run: str) -> None:
    """Ends the replacement that a run has begun if its scores.json is there, and else undoes it."""
    if storage.exists(scores_path(output)) and not _is_former_manifest_right(output, run):
        _forget_former(output, run)
    else:
        _put_back_former(output, run)


def _is_former_manifest_right(output: str, run: str) -> bool:
    """Whether the manifest that a run has moved aside names the scores.json that is in place."""
    aside = former_folder(output, run)
    if MANIFEST not in storage.names(aside):
        return False
    path = join(aside, MANIFEST)
    with storage.reading(path):
        return belongs_to(storage.read(path), storage.read(scores_path(output)))


def _remove_beside_scores(output: str, documents: Mapping[str, bytes]) -> None:
    """Removes the other documents of a failed run, if its scores.json is not there."""
    if _is_there(scores_path(output), documents[SCORES]):
        return
    for name in BESIDE_SCORES:
        if name in documents and _is_there(join(output, name), documents[name]):
            storage.remove_files(output, [name])


def _forget_former(output: str, run: str) -> None:
    former = former_folder(output, run)
    storage.remove_files(former, [name for name in storage.names(former) if is_of_result(name)])
    storage.remove_if_empty(former)


def _put_back_former(output: str, run: str) -> None:
    final, former = final_folder(output), former_folder(output, run)
    if is_local(output) and not storage.is_folder(former):
        return  # the run has not begun to replace the result
    places = {final: storage.names(final), output: rejected_files(output, asked=False)}
    for folder, names in places.items():
        own = [name for name in names if is_part_file_of(run, name)]
        _move(output, own, folder, staging_folder(output, run))
    of_result = [name for name in storage.names(former) if is_of_result(name)]
    part_files = [name for name in of_result if name not in DOCUMENTS]
    rejected = [name for name in part_files if run_of_rejected(name) is not None]
    _move(output, sorted(set(part_files) - set(rejected)), former, final)
    _move(output, rejected, former, output)
    for name in DOCUMENTS:
        if name in of_result:
            check_held(output)
            if storage.exists(join(output, name)):
                storage.remove_files(output, [name])
            _move(output, [name], former, output)
    if MANIFEST in of_result:
        if TOTALS not in of_result:
            _remove_foreign_totals(output)
        if EXAMPLES not in of_result:
            _remove_foreign_examples(output)
    storage.remove_if_empty(former)


def _remove_foreign_totals(output: str) -> None:
    """Removes a totals.json that a killed run has written beside the scores.json of another run."""
    path = totals_path(output)
    if not storage.exists(path) or not storage.exists(scores_path(output)):
        return
    with storage.reading(path):
        is_right = belongs_to(storage.read(path), storage.read(scores_path(output)))
    if not is_right:
        storage.remove_files(output, [TOTALS])


def _remove_foreign_examples(output: str) -> None:
    """The same for an examples.jsonl, which the manifest names."""
    examples, manifest = examples_path(output), manifest_path(output)
    if not storage.exists(examples) or not storage.exists(manifest):
        return
    with storage.reading(examples):
        is_right = names_examples(storage.read(manifest), storage.read(examples))
    if not is_right:
        storage.remove_files(output, [EXAMPLES])


def _remove_staged(output: str, run: str) -> None:
    # This folder is removed with all its files, because no other run has a folder of this name.
    storage.remove(staging_folder(output, run))
    storage.remove_if_empty(run_folder(output, run))


def _recover(output: str) -> None:
    """Settles the replacements that killed runs have begun. The caller must hold the lock."""
    for run in storage.folders(aside_folder(output)):
        former = former_folder(output, run)
        try:
            has_begun = storage.is_folder(former) and not os.path.islink(former)
        except JobError:
            # The run of another user. If there is a scores.json, no previous result is missing.
            if not storage.exists(scores_path(output)):
                raise
            continue
        if has_begun:
            _settle(output, run)


def _is_there(path: str, document: bytes) -> bool:
    with storage.reading(path):
        return storage.exists(path) and storage.read(path) == document


def _check_written(output: str, documents: Mapping[str, bytes]) -> None:
    # With the lock, no other run can have replaced them. They must not be old ones, either.
    for name, document in documents.items():
        path = join(output, name)
        if not _is_there(path, document):
            raise JobError(
                f"the job wrote no {path}, or something else has replaced it",
                "make sure that nothing else writes to --output",
            )


def _check_whole(
    output: str,
    own: tuple[set[str], set[str]],
    foreign: set[str],
    documents: Mapping[str, bytes],
) -> bool:
    """Checks that the documents and the part files in place are of one run.

    Another run may have replaced all of them in the meantime. Then that run checks its own files.

    Returns:
      whether they are of this run.

    Raises:
      JobError: there are files of both runs.
    """
    part_files = set(storage.names(final_folder(output))) - foreign
    there = part_files, set(rejected_files(output, asked=False))
    is_ours = _is_there(scores_path(output), documents[SCORES])
    others = not all(_is_there(join(output, name), content) for name, content in documents.items())
    mixed = any(present & of_run for present, of_run in zip(there, own, strict=True))
    if (is_ours and (others or there != own)) or (not is_ours and mixed):
        raise JobError(
            f"another run wrote its result to {output} at the same time: the folder has files of "
            "both runs",
            "run one of them again; on this filesystem, give each run its own --output",
        )
    return is_ours
