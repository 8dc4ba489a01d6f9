"""The formats of files whose rows lie in groups: each one is a row of a table."""

from __future__ import annotations

from typing import Literal

from beam_bleu.transforms.pairing.records.row_groups.arrow_files import ARROW
from beam_bleu.transforms.pairing.records.row_groups.avro_files import AVRO
from beam_bleu.transforms.pairing.records.row_groups.group_file import GroupFormat
from beam_bleu.transforms.pairing.records.row_groups.parquet_files import PARQUET

GroupFormatName = Literal["parquet", "arrow", "avro"]

GROUP_FORMATS: dict[GroupFormatName, GroupFormat] = {
    "parquet": PARQUET,
    "arrow": ARROW,
    "avro": AVRO,
}
