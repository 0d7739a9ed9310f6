"""What a JSON schema says of a value: as much of the language as our schemas use, and no more.

A keyword that is not known here is an error, so that nothing is passed over.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_SAID = {"title", "description", "default", "$defs", "$schema"}


def complaints(value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> Iterator[str]:
    """Why ``value`` is not as ``schema`` says, which is a part of the ``whole``; else nothing."""
    for keyword, said in schema.items():
        if keyword not in _SAID:
            yield from _complaints(keyword, said, value, schema, whole)


def _complaints(
    keyword: str, said: Any, value: Any, schema: dict[str, Any], whole: dict[str, Any]
) -> Iterator[str]:
    match keyword:
        case "$ref":
            name = re.fullmatch(r"#/\$defs/(\w+)", said)
            assert name is not None, said
            yield from complaints(value, whole["$defs"][name[1]], whole)
        case "anyOf":
            if all(list(complaints(value, each, whole)) for each in said):
                yield f"{value!r} is none of {said}"
        case "enum":
            if value not in said:
                yield f"{value!r} is none of {said}"
        case "const":
            if value != said:
                yield f"{value!r} is not {said!r}"
        case "type":
            right = isinstance(value, _TYPES[said])
            if not right or (isinstance(value, bool) and said != "boolean"):
                yield f"{value!r} is no {said}"
        case "required" if isinstance(value, dict):
            yield from (f"lacks {key}" for key in said if key not in value)
        case "properties" if isinstance(value, dict):
            for key in said.keys() & value.keys():
                yield from complaints(value[key], said[key], whole)
        case "additionalProperties" if isinstance(value, dict):
            assert said is False
            yield from (f"has {key}" for key in value.keys() - schema["properties"].keys())
        case "items" if isinstance(value, list):
            for each in value:
                yield from complaints(each, said, whole)
        case "prefixItems" if isinstance(value, list):
            for each, one in zip(value, said, strict=False):
                yield from complaints(each, one, whole)
        case "minItems" if isinstance(value, list):
            if len(value) < said:
                yield f"fewer than {said}"
        case "maxItems" if isinstance(value, list):
            if len(value) > said:
                yield f"more than {said}"
        case "minLength" if isinstance(value, str):
            if len(value) < said:
                yield f"shorter than {said}"
        case "minimum" | "exclusiveMinimum" | "maximum" if isinstance(value, int | float):
            low = value < said or (keyword == "exclusiveMinimum" and value == said)
            if value > said if keyword == "maximum" else low:
                yield f"{value} beyond {keyword} {said}"
        case "format" if isinstance(value, str):
            assert said == "date-time", said
            datetime.fromisoformat(value)
        case (
            "format" | "required" | "properties" | "additionalProperties" | "items" | "prefixItems"
            | "minItems" | "maxItems" | "minLength" | "minimum" | "exclusiveMinimum" | "maximum"
        ):  # fmt: skip
            pass  # says nothing of a value of another type
        case _:
            raise AssertionError(f"unknown keyword {keyword}: {said!r}")
