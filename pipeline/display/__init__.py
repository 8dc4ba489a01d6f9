"""Turns a result into what stdout shows: tables as text, Markdown and LaTeX, or JSON."""
