"""Makes the container image for the launcher of jobs and for the pool of Python workers."""
