"""Brings records together by their ids: joins of files, and long records."""
