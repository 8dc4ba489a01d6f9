"""Records: rows of Parquet, Arrow, Avro, JSON lines or tab-separated text, with named columns."""
