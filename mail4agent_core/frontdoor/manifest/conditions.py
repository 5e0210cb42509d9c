"""Whether something is shown: conditions over values that were coerced already.

Conditions are total. What is missing, or is not of a type that an operator speaks of, makes one false; so
does ``ne`` or ``not_in`` of a field that was not filled in. They read coerced values, so that ``is_true``
holds of a checkbox that a browser posted as ``on``.
"""

from collections.abc import Mapping

from mail4agent_api.frontdoor import DateField, IntegerField, ShowWhen

from .values import Declared, Value, whole_number

#: Operators that need a ``value``, that need ``values``, and those that need neither.
SINGLE = frozenset(("eq", "ne", "gt", "gte", "lt", "lte"))
SEVERAL = frozenset(("in", "not_in"))
ORDERING = frozenset(("gt", "gte", "lt", "lte"))
TRUTHS = frozenset(("is_true", "is_false"))
PRESENCE = frozenset(("present", "absent"))


def holds(condition: ShowWhen, values: Mapping[str, Value], field: Declared | None) -> bool:
    """Whether a condition holds. ``field`` is the field it reads, None for an acknowledgment."""
    found = values.get(condition.field)
    if condition.op in PRESENCE:
        return (found is not None) == (condition.op == "present")
    if found is None:
        return False
    match condition.op:
        case "is_true":
            return found is True
        case "is_false":
            return found is False
        case "eq":
            return _is(found, condition.value)
        case "ne":
            return not _is(found, condition.value)
        case "in":
            return any(_is(found, each) for each in condition.values)
        case "not_in":
            return not any(_is(found, each) for each in condition.values)
        case _:
            return _ordered(condition.op, found, condition.value, field)


def _is(found: Value, operand: str | None) -> bool:
    """Whether a value is the operand; of several choices, whether the operand is one of them."""
    if operand is None:
        return False
    match found:
        case bool():
            return operand == ("true" if found else "false")
        case int():
            return found == whole_number(operand)
        case str():
            return found == operand
        case list():
            return operand in found
        case _:
            return False


def _ordered(op: str, found: Value, operand: str | None, field: Declared | None) -> bool:
    if operand is None:
        return False
    if isinstance(field, IntegerField) and isinstance(found, int):
        number = whole_number(operand)
        if number is None:
            return False
        difference = found - number
    elif isinstance(field, DateField) and isinstance(found, str):
        # Days written YYYY-MM-DD sort as texts.
        difference = (found > operand) - (found < operand)
    else:
        return False
    match op:
        case "gt":
            return difference > 0
        case "gte":
            return difference >= 0
        case "lt":
            return difference < 0
        case _:
            return difference <= 0
