"""A job for which Flink has too few slots or network buffers is refused before it is sent."""

from __future__ import annotations

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from fake_flink import fake_flink

from beam_bleu.pipeline.engines.flink_master import check_resources_of_flink
from beam_bleu.pipeline.engines.flink_resources import (
    FlinkSettings,
    TaskManager,
    check_resources,
    needed_buffers,
)
from beam_bleu.transforms.errors import JobError

MB = 1 << 20
LOCAL = TaskManager(slots=2, free_slots=2, network_bytes=114_085_070)
"""A TaskManager of the clusters on which the bound was tried."""


def by_hand(parallelism: int, on_one: int, shuffles: int) -> int:
    """The buffers of each subtask, channel by channel."""
    needed = 0
    for _ in range(on_one):
        for _ in range(shuffles):
            needed += 1  # of a partition that is written
            for reader in range(parallelism):
                needed += 1
                needed += 2 if reader >= on_one else 0
            needed += 1  # a floating one
    return needed


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 8), (2, 2, 8), (64, 8, 20)])
def test_the_buffers_are_those_of_all_subtasks(shape) -> None:
    assert needed_buffers(*shape) == by_hand(*shape)


def test_a_cluster_that_has_enough() -> None:
    assert check_resources([LOCAL, LOCAL], 2, 8) is None
    assert check_resources([LOCAL, LOCAL], 4, 8) is None
    assert check_resources([], 64, 8) is None  # Flink has not told which ones there are


def test_too_few_slots() -> None:
    with pytest.raises(JobError) as raised:
        check_resources([LOCAL, LOCAL], 5, 8)
    assert raised.value.cause == "--parallelism 5 needs 5 slots, but Flink has 4"
    assert "taskmanager.numberOfTaskSlots" in raised.value.remedy
    # On Kubernetes, for example, Flink starts TaskManagers for a job.
    assert check_resources([LOCAL], 5, 8, FlinkSettings(starts_task_managers=True)) is None


def test_too_few_buffers() -> None:
    wide = [TaskManager(slots=8, free_slots=8, network_bytes=256 * MB)] * 8
    with pytest.raises(JobError) as raised:
        check_resources(wide, 64, 8)  # 8 * 8 * (64 + 2 + 2 * 56) buffers of 32 KiB
    assert "at least 356 MB for network buffers" in raised.value.cause
    assert "Flink has 256 MB there" in raised.value.cause
    assert "taskmanager.memory.network.min and .max to 356 MB" in raised.value.remedy


@pytest.mark.parametrize(("megabytes", "warns"), [(18, True), (19, True), (20, False)])
def test_buffers_that_may_be_too_few_are_only_a_warning(megabytes, warns) -> None:
    manager = TaskManager(slots=8, free_slots=8, network_bytes=megabytes * MB)
    warning = check_resources([manager, manager], 8, 8)
    assert (warning is not None) == warns
    if warning is not None:  # Flink may give all subtasks to one of them
        assert "a TaskManager that gets 8 of 8 subtasks may need 20 MB" in warning


def manager(slots: int, megabytes: int) -> dict[str, object]:
    memory = {"networkMemory": megabytes * MB}
    return {"slotsNumber": slots, "freeSlots": slots, "memoryConfiguration": memory}


def test_flink_is_asked() -> None:
    answers = {
        "/taskmanagers": {"taskmanagers": [manager(2, 108), manager(2, 108)]},
        "/jobmanager/config": [],
    }
    with fake_flink(answers) as url:
        options = PipelineOptions([f"--flink_master={url}", "--parallelism=5"])
        pipeline = beam.Pipeline(options=options)
        _ = pipeline | beam.Create([("a", 1)]) | beam.GroupByKey()
        with pytest.raises(JobError, match="needs 5 slots, but Flink has 4"):
            check_resources_of_flink("FlinkRunner", pipeline)
        check_resources_of_flink("PortableRunner", pipeline)
        batch = PipelineOptions(
            [f"--flink_master={url}", "--parallelism=5", "--execution_mode_for_batch=BATCH_FORCED"]
        )
        check_resources_of_flink("FlinkRunner", beam.Pipeline(options=batch))


@pytest.mark.parametrize("answers", [{}, {"/taskmanagers": [], "/jobmanager/config": []}])
def test_a_flink_that_does_not_answer_refuses_nothing(answers) -> None:
    with fake_flink(answers) as url:
        options = PipelineOptions([f"--flink_master={url}", "--parallelism=5"])
        check_resources_of_flink("FlinkRunner", beam.Pipeline(options=options))
