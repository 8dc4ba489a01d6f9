"""The keys of units depend on the names of units, and on nothing else."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.totals.replicates import unit_keys


def hashed(name):
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")


def test_the_key_of_a_segment_is_the_hash_of_the_partition_plus_its_number():
    found = unit_keys("2026-11-21", np.array([0, 7, 2**40]))
    first = hashed(b"2026-11-21")
    assert found.tolist() == [(first + number) % 2**64 for number in (0, 7, 2**40)]
    assert unit_keys("", np.array([0])).tolist() == [hashed(b"")]


def test_the_key_of_a_document_is_the_hash_of_the_partition_and_its_name():
    names = pa.array(["b", "é", "b", "b"]).dictionary_encode()
    found = unit_keys("p", None, names)
    assert found.tolist() == [hashed(b"p\0" + name) for name in (b"b", "é".encode(), b"b", b"b")]
    reordered = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, 2, 2], pa.int32()), pa.array(["é", "unused", "b", None])
    )
    assert unit_keys("p", None, reordered).tolist() == found.tolist()


@pytest.mark.parametrize(
    "names",
    [
        pa.array(["a", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", None])),
    ],
)
def test_a_segment_without_a_document_is_an_error(names):
    with pytest.raises(JobError, match="a segment has no document"):
        unit_keys("", None, names)


def test_segments_without_numbers_are_an_error():
    with pytest.raises(JobError, match="without numbers"):
        unit_keys("", None)
