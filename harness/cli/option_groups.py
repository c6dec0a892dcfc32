"""Groups of options: the fields of a dataclass become options of a command."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from keyword import iskeyword
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from harness.workload.preparation import Option, words_of

#: The panel of the help for options of `Preparation`.
JOBS = "Jobs"

T = TypeVar("T")


def expand_groups(command: Callable[..., T]) -> Callable[..., T]:
    """Return `command` with the options of its groups as parameters of their own, as typer expects them."""
    kinds = get_type_hints(command, include_extras=True)
    given = inspect.signature(command).parameters
    expanded = [one for name in given for one in _typer_parameters(name, kinds[name], given[name].default)]

    @wraps(command)
    def called(**values: Any) -> T:
        return command(**{name: _collect(name, kinds[name], values) for name in given})

    called.__signature__ = inspect.Signature(expanded)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in expanded}
    return called


def _typer_parameters(name: str, kind: Any, default: Any) -> list[inspect.Parameter]:
    """Return the parameter itself, or one parameter for each option of a group."""
    if is_dataclass(kind):
        kinds = get_type_hints(kind, include_extras=True)
        return [
            one for field in fields(kind) for one in _typer_parameters(field.name, kinds[field.name], field.default)
        ]
    default = inspect.Parameter.empty if default is MISSING else default
    name, kind = _for_typer(name, kind)
    return [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)]


def _collect(name: str, kind: Any, values: dict[str, Any]) -> Any:
    """Return the value of a parameter: the one from typer, or a group built from several."""
    if isinstance(kind, type) and is_dataclass(kind):
        kinds = get_type_hints(kind, include_extras=True)
        return kind(**{field.name: _collect(field.name, kinds[field.name], values) for field in fields(kind)})
    return values[_for_typer(name, kind)[0]]


def _for_typer(name: str, kind: Any) -> tuple[str, Any]:
    """Return the name and type of a parameter for typer. An `Option` of `Preparation` becomes a typer option."""
    option = next((one for one in getattr(kind, "__metadata__", ()) if isinstance(one, Option)), None)
    if option is None:
        return name, kind
    flag = flag_of(name, option)
    name = flag.strip("-").replace("-", "_")
    plain = kind.__origin__
    least = None if option.above is None or plain != int | None else int(option.above) + 1
    shown = typer.Option(flag, help=option.help, metavar=option.metavar, min=least, rich_help_panel=JOBS)
    if words_of(plain) or plain == float | str | None:  # plain text for typer: our messages name the nearest word
        plain = str | None if NoneType in get_args(plain) else str
    return name + "_" * iskeyword(name), Annotated[plain, shown]


def flag_of(name: str, option: Option) -> str:
    """Return the flag of an option of `Preparation`."""
    return option.flag or f"--{name.replace('_', '-')}"
