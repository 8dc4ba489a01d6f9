"""Measures records: Parquet, JSON lines and tab-separated text against line-parallel text."""
