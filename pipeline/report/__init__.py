"""The report: one HTML page that shows a result to people who do not use the command."""
