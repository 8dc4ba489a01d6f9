"""The metrics: each one is a folder that knows all about itself."""
