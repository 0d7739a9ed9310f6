"""Why a value is not what a JSON schema says."""

from datetime import datetime
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))


def complaints(value: Any, schema: dict[str, Any]) -> list[str]:
    """What is wrong with ``value``; nothing if it is as ``schema`` says."""
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema, format_checker=_FORMATS)
    return [error.message for error in validator.iter_errors(value)]
