"""The application: from a command line to scores.json."""
