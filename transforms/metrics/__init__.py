"""The metrics: each one is a file or a folder, which has all that is known only about this one."""
