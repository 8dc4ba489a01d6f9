"""Machine code is called with the same values that Python would give to the function."""

from __future__ import annotations

import math
import pathlib
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.machine_code import key_and_words
from beam_bleu.transforms.native.memory import MOST_KEPT, KeptMemory


def echoed(number, pair, flag, real, unsigned):
    return number + 1, pair[0], not flag, real, unsigned


def summed(matrix, weights):
    total = 0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            total += matrix[i, j] * weights[j]
    return total


def doubled(values):
    (items,) = values  # a tuple of arrays
    for i in range(items.size):
        items[i] *= 2


def inverse(x):
    return 1.0 / x


@pytest.fixture(autouse=True)
def _own_cache(chosen: pathlib.Path) -> None:
    """Nothing of these functions stays."""


def test_numbers_and_tuples_come_back() -> None:
    function = compiled(echoed)
    largest = np.uint64(2**64 - 1)
    for number, real in ((-5, -0.5), (2**63 - 2, math.inf)):
        found = function(number, (largest, np.uint64(7)), True, real, largest)
        assert found == (number + 1, 2**64 - 1, False, real, 2**64 - 1)
        assert [type(each) for each in found] == [int, int, bool, float, int]
    assert math.isnan(function(0, (largest, largest), False, math.nan, largest)[3])


def test_other_values_are_refused() -> None:
    """Also integers of more than 64 bits."""
    for wrong in [2**64, 2**70, -(2**63) - 1, "text", None, [1], {}]:
        for argument in (wrong, (1, wrong)):
            with pytest.raises(TypeError, match="compiled code cannot be called with"):
                key_and_words([argument])


def test_arrays_of_each_layout() -> None:
    weights, function = np.array([1, 10, 100]), compiled(summed)
    for matrix in (
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(24).reshape(4, 6)[::2, ::-2],
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.frombuffer(np.arange(6).tobytes(), np.int64).reshape(2, 3),
        np.empty((0, 3), np.int64),
    ):
        assert function(matrix, weights) == int((matrix @ weights).sum())


def test_an_exception_of_compiled_code_is_an_error() -> None:
    assert compiled(inverse)(4.0) == 0.25
    with pytest.raises(ArithmeticError, match="inverse"):
        compiled(inverse)(0.0)


def test_threads_share_one_function() -> None:
    function = compiled(doubled)
    arrays = [np.full(1000, i) for i in range(8)]
    threads = [threading.Thread(target=function, args=((array,),)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [array[0] for array in arrays] == [2 * i for i in range(8)]
    assert len(function.loaded) == 1  # type: ignore[attr-defined]


def test_arguments_of_other_types_have_other_keys() -> None:
    rows = np.arange(4).reshape(2, 2)
    read_only = rows.copy()
    read_only.flags.writeable = False
    arguments = [
        *(rows, rows.T, rows[:, ::-1], rows.ravel(), rows.astype(">i8"), rows.astype(np.uint64)),
        *(read_only, 1, 2**63, True, 1.0, np.int64(1), (1, 1.0), (1.0, 1), ()),
    ]
    keys = [key_and_words([argument])[0] for argument in arguments]
    assert len(set(keys)) == len(set(map(repr, keys))) == len(keys)
    same = [rows, rows.copy(), rows[:1], np.frombuffer(bytearray(48)).view(np.int64).reshape(3, 2)]
    assert {key_and_words([array])[0] for array in same} == {keys[0]}
    whole = [key_and_words([number])[0] for number in (2**64 - 1, 2**63 - 1, -(2**63))]
    assert whole[0] != whole[1] == whole[2]


def test_memory_is_used_again_on_the_same_thread_if_it_is_large_enough() -> None:
    memory = KeptMemory()
    first = memory.memory_for("one", 1000)
    assert memory.memory_for("one", 10) is first
    assert memory.memory_for("other", 10) is not first
    larger = memory.memory_for("one", 1001)
    assert larger.size >= 1001
    assert memory.memory_for("one", MOST_KEPT + 1).size > MOST_KEPT  # not kept
    assert memory.memory_for("one", 10) is larger
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(memory.memory_for, "one", 10).result() is not larger
