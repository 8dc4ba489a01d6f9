"""MkDocs's hooks for the project's site: where its pages are, and how GitHub reads Markdown.

The pages are the project's Markdown files, in their places, so that their links work as they do on
GitHub. MkDocs calls the functions whose names begin with `on_`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PROJECT = Path(__file__).parent.parent.parent

FOLDERS = ("", "benchmarks", "deploy", "docs", "examples", "tests/golden", "tests/hostile")
"""The folders with pages, at any depth; "" is the top level alone."""

LIBRARY = "docs/library.md"
"""The page that ends with the list of public names, after which the site shows their docstrings."""

_LINK = re.compile(r"\]\((?!\w+:)([^)#]+)")

_NAME = re.compile(r"`(\w+)`(?=[^:\n]*:)")
"""A name in the list, which stands before the colon of its line."""


def pages() -> list[Path]:
    """The pages, as paths relative to the project."""
    found = [path for folder in FOLDERS for path in _in_folder(folder)]
    return sorted(path.relative_to(PROJECT) for path in found)


def _in_folder(folder: str) -> Iterator[Path]:
    pattern = "**/*.md" if folder else "*.md"
    return (PROJECT / folder).glob(pattern)


def linked_files(page: Path) -> Iterator[Path]:
    """The files, other than pages, to which a page has links."""
    for link in _LINK.findall((PROJECT / page).read_text()):
        target = (PROJECT / page).parent.joinpath(link).resolve()
        if target.is_file() and target.suffix != ".md":
            yield target.relative_to(PROJECT)


def anchor(title: str, separator: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


class NestedLists(Extension):
    """Nested lists are indented by two spaces, as on GitHub; Python's Markdown expects four."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Sets the indentation, before other extensions add to the parser."""
        md.tab_length = 2
        md.build_parser()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Makes MkDocs read Markdown as GitHub does."""
    config.mdx_configs["toc"]["slugify"] = anchor
    config.markdown_extensions.insert(0, NestedLists())
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the project, the files that they link to, and the files of the theme."""
    for file in list(files):
        if file.src_dir == config.docs_dir and Path(file.src_uri).suffix not in (".css", ".js"):
            files.remove(file)
    found = pages()
    for path in {*found, *(linked for page in found for linked in linked_files(page))}:
        files.append(
            File(path.as_posix(), str(PROJECT), config.site_dir, config.use_directory_urls)
        )
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The page of the library, with the docstrings of the names that it lists."""
    if page.file.src_uri != LIBRARY:
        return markdown
    before, heading, names = markdown.partition("## Public names\n")
    linked = _NAME.sub(r"[`\1`](#beam_bleu.\1)", names)
    described = "".join(f"\n::: beam_bleu.{name}\n" for name in _NAME.findall(names))
    return before + heading + linked + described
