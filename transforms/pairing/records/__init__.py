"""Reads records: rows of Parquet, Arrow, Avro, JSON lines, CSV or tab-separated text."""
