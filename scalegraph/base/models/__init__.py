"""Models of values that are checked: declared as pydantic's, which is loaded only for what is not plainly right.

The names here are pydantic's, and mean the same. To import pydantic and to build its classes takes as long as all
else of a short run. So a class here notes its fields (`declaring`); values of plain types that follow the declared
rules are accepted at once (`quick`), plain values are written at once (`dumping`). Whatever is left, everything that
is wrong among it, goes to pydantic's own class of the same declaration (`full`), which decides and words the faults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import (
        AliasChoices,
        BaseModel,
        ConfigDict,
        Field,
        PrivateAttr,
        ValidationError,
        field_validator,
        model_validator,
    )
    from pydantic.fields import FieldInfo
else:
    from scalegraph.base.models.declaring import (
        AliasChoices,
        Field,
        FieldInfo,
        PrivateAttr,
        field_validator,
        model_validator,
    )
    from scalegraph.base.models.model import BaseModel

    ConfigDict = dict

__all__ = [
    "AliasChoices",
    "BaseModel",
    "ConfigDict",
    "Field",
    "FieldInfo",
    "PrivateAttr",
    "field_validator",
    "model_validator",
    "refusal",
]


def refusal() -> type[ValidationError]:
    """Return the type of the exception that a model raises for wrong values, to be named behind ``except``.

    Python evaluates that only when something was raised, so that pydantic need not be loaded otherwise.
    """
    from pydantic import ValidationError

    return ValidationError
