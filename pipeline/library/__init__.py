"""The transform that gives a pipeline what the command has: `Evaluate`."""
