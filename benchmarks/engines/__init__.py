"""Runs on engines: clusters of this machine."""
