"""Compressing in the tests, with writers that are not the readers under test."""

import bz2
import gzip
import lzma

import zstandard

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}
