"""Memory that is used again: enough for each call, never too much, never of another thread."""

from __future__ import annotations

import concurrent.futures

from beam_bleu.transforms.native.kept_memory import MOST_KEPT, KeptMemory


def test_memory_is_used_again_on_the_same_thread_if_it_is_large_enough() -> None:
    memory = KeptMemory()
    first = memory.memory_for("one", 1000)
    assert first.size >= 1000
    assert memory.memory_for("one", 10) is first
    assert memory.memory_for("other", 10) is not first
    larger = memory.memory_for("one", 1001)
    assert larger.size >= 1001
    assert memory.memory_for("one", MOST_KEPT + 1).size > MOST_KEPT  # not kept
    assert memory.memory_for("one", 10) is larger
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(memory.memory_for, "one", 10).result() is not larger
