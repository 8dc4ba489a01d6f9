"""Files of WMT: test sets as .sgm (until 2020) and .xml (since 2021), and scores of segments.

Texts are those that sacreBLEU extracts (`sacrebleu -t`), to the byte: white space is collapsed, and
entities in .sgm files, which are not real SGML, stay as they are.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa

from beam_bleu.transforms.pairing.records.whole_files.whole_file import lines

_ATTRIBUTE = re.compile(r'(\w+)\s*=\s*"(.*?)"')
_SEGMENT = re.compile(r"<seg ([^>]*)>((?:(?!</seg>).)*)</seg>\s*")
_REFERENCES = ("A", "refA")  # the translators that sacreBLEU takes, except in a few test sets


def sgm_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """A row for each segment, with the attributes of its document, such as origlang."""
    document: dict[str, str] = {}
    for number, line in lines(data):
        if "<seg" in line.lower():
            segment = _SEGMENT.fullmatch(line.lstrip())
            attributes = dict(_ATTRIBUTE.findall(segment[1])) if segment else {}
            if segment is None or "id" not in attributes or "docid" not in document:
                raise pa.ArrowInvalid(
                    f'line {number} is not like <seg id="1">...</seg>, in a <doc> with a docid'
                )
            yield {**document, "segment": attributes["id"], "text": _clean(segment[2])}
        elif "<doc " in line.lower():
            document = {name.lower(): value for name, value in _ATTRIBUTE.findall(line)}


def xml_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """A row for each system and segment with a reference. `ref` is that of translator A or, if
    there is only one, of this one.
    """
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise pa.ArrowInvalid(f"it is not XML: {error}") from error
    translators = dict.fromkeys(_translator(ref) for ref in root.iter("ref"))
    names = _REFERENCES if len(translators) > 1 else translators
    default = next((name for name in names if name in translators), None)
    for document in root.iter("doc"):
        if "testsuite" in document.attrib:
            continue
        about = {name: document.get(name) for name in ("origlang", "domain")}
        sources = _segments(document, document.iter("src"))
        references = {
            name: _segments(
                document, (ref for ref in document.iter("ref") if _translator(ref) == name)
            )
            for name in translators
        }
        for hyp in document.iter("hyp"):
            for number, text in _segments(document, [hyp]).items():
                refs = {name: texts.get(number, "") for name, texts in references.items()}
                if any(refs.values()):
                    yield {
                        **{"docid": document.get("id"), "segment": number, **about},
                        **{"src": sources.get(number), "refs": refs},
                        **({"ref": refs[default]} if default else {}),
                        **{"system": hyp.get("system"), "text": text},
                    }


def _translator(ref: ElementTree.Element) -> str:
    return ref.get("translator") or "ref"


def _segments(
    document: ElementTree.Element, elements: Iterable[ElementTree.Element]
) -> dict[int, str]:
    segments: dict[int, str] = {}
    for element in elements:
        for segment in element.iter("seg"):
            number = segment.get("id", "")
            if not number.isdecimal() or int(number) in segments or len(segment):
                raise pa.ArrowInvalid(
                    f'document {document.get("id")}: in a <{element.tag}>, <seg id="{number}"> has '
                    "no number as its id, the id of another one, or elements in its text"
                )
            segments[int(number)] = _clean(segment.text or "")
    return segments


def _clean(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip())


def score_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """A row for each line of a NAME.seg.score of mt-metrics-eval: a system and its score. The lines
    of a system are the segments, in order.
    """
    segments: Counter[str] = Counter()
    for number, line in lines(data):
        try:
            system, text = line.split()
            score = None if text == "None" else float(text)
        except ValueError:
            score = math.inf
        if score is not None and not math.isfinite(score):
            raise pa.ArrowInvalid(f"line {number} is not a system and a number or None: {line}")
        yield {"system": system, "segment": segments[system], "score": score}
        segments[system] += 1
