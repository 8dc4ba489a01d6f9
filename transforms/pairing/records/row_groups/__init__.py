"""Files whose rows lie in groups: row groups of Parquet, record batches of Arrow, Avro's blocks."""
