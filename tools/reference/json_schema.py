"""JSON schemas of the records that programs of others read."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import FloatSchema


class _WithNaN(GenerateJsonSchema):
    """JSON has no NaN: where a number may be one, it may be one of three strings."""

    def float_schema(self, schema: FloatSchema) -> JsonSchemaValue:
        number = super().float_schema(schema)
        if schema.get("allow_inf_nan", True) is False:
            return number
        return {"anyOf": [number, {"enum": ["NaN", "Infinity", "-Infinity"]}]}


def json_schema(record: type[BaseModel]) -> dict[str, Any]:
    """The schema of a kind of record, with the keys as they are written."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **record.model_json_schema(by_alias=True, schema_generator=_WithNaN),
    }
