"""JSON schemas of the records that programs of others read."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import FloatSchema, ModelSchema


def described(record: type) -> Iterator[tuple[str, str]]:
    """The fields of a record that is defined in a module, and the docstrings under them."""
    (definition,) = ast.parse(inspect.getsource(record)).body
    assert isinstance(definition, ast.ClassDef)
    for field, below in pairwise(definition.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, text


class _Described(GenerateJsonSchema):
    """With the docstrings of fields, and NaN: where a number may be one, it is a string."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        record = schema["cls"]
        for name, text in described(record):
            if name in record.model_fields:
                key = record.model_fields[name].alias or name
                made["properties"][key].setdefault("description", text)
        return made

    def float_schema(self, schema: FloatSchema) -> JsonSchemaValue:
        number = super().float_schema(schema)
        if schema.get("allow_inf_nan", True) is False:
            return number
        return {"anyOf": [number, {"enum": ["NaN", "Infinity", "-Infinity"]}]}


def json_schema(record: type[BaseModel]) -> dict[str, Any]:
    """The schema of a kind of record, with the keys as they are written."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **record.model_json_schema(by_alias=True, schema_generator=_Described),
    }
