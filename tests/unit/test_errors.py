"""The error tree, the names that cross from the JVM, and the form of a message."""

from __future__ import annotations

import json
import pickle
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest
from eventtide import errors
from eventtide.errors import BY_NAME, ArgumentTypeError, EventtideError, from_report, refused


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        ("InvalidArgumentError", ValueError),
        ("ArgumentTypeError", TypeError),
        ("InvalidDurationError", ValueError),
        ("UnknownColumnError", LookupError),
        ("ColumnTypeError", TypeError),
        ("UnsupportedPlanError", RuntimeError),
        ("DuplicateWatermarkError", RuntimeError),
        ("CheckpointError", RuntimeError),
        ("ClockError", RuntimeError),
        ("RefusedDataError", RuntimeError),
        ("LateHandlerError", RuntimeError),
        ("SetupError", RuntimeError),
        ("UnsupportedSparkError", RuntimeError),
    ],
)
def test_each_error_is_also_the_builtin_that_fits(error: str, builtin: type[BaseException]) -> None:
    """`except ValueError` and the like work as usual."""
    assert issubclass(BY_NAME[error], EventtideError)
    assert issubclass(BY_NAME[error], builtin)


def reported(name: str, message: str) -> EventtideError:
    """Return the error of a report of the JVM."""
    fields = {"condition": "X", "problem": "", "fix": "", "parameters": {}}
    return from_report(json.dumps({"class": name, "message": message, **fields}))


def test_every_error_is_public_and_drawn_in_the_tree() -> None:
    """The drawing at the top of the module and the package's names are complete."""
    assert set(BY_NAME) == set(errors.__all__)
    for name in BY_NAME:
        assert getattr(errors, name) is BY_NAME[name]
        assert name in str(errors.__doc__)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_an_error_of_the_jvm_becomes_the_class_it_names(name: str) -> None:
    """The JVM raises the same classes, with its own finished message."""
    error = reported(name, "lag=-1 is negative.")
    assert type(error) is BY_NAME[name]
    assert str(error) == "lag=-1 is negative."


def test_an_error_class_of_a_newer_jar_keeps_its_name() -> None:
    """Nothing is lost when the JVM knows more errors than Python."""
    assert str(reported("NewError", "what happened")) == "NewError: what happened"


@pytest.mark.parametrize("error", BY_NAME.values())
def test_errors_are_picklable(error: type[EventtideError]) -> None:
    """They cross process borders, as in a test run on several processes."""
    copy = pickle.loads(pickle.dumps(error("a message")))  # noqa: S301 - our own bytes
    assert type(copy) is error
    assert str(copy) == "a message"


def test_a_long_value_is_shortened_in_a_message() -> None:
    """An error about a long text stays readable."""
    error = refused("lag", "x" * 10_000, "is no duration", allowed="text", fix="lag='5s'")
    assert len(str(error)) < 200


def test_an_error_has_its_parts_as_fields() -> None:
    """The message is built from them; a copy has them too."""
    error = refused(
        "lag", 5, "has no unit", allowed="text", fix="lag='5s'", error=ArgumentTypeError
    )
    for each in (error, pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own bytes
        assert (each.condition, each.argument, each.value) == ("ARGUMENT_TYPE", "lag", 5)
        assert (each.problem, each.allowed, each.fix) == ("has no unit", "text", "lag='5s'")
        assert str(each) == "lag=5 has no unit. Allowed: text. Try: lag='5s'."


@pytest.mark.parametrize("error", BY_NAME.values())
def test_an_error_of_python_has_a_condition(error: type[EventtideError]) -> None:
    """Those that only the JVM raises have the one that it gives."""
    in_python = {"Argument", "Duration", "Column", "Setup", "Spark", "Handler"}
    assert (error.condition is None) != any(part in error.__name__ for part in in_python)


@pytest.mark.parametrize("package", ["eventtide", "eventtide-client"])
def test_an_extra_is_one_of_the_installed_package(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other package would overwrite its files."""

    def metadata(name: str) -> dict[str, str]:
        if name != package:
            raise PackageNotFoundError(name)
        return {"Name": name}

    monkeypatch.setattr(errors, "metadata", metadata)
    assert errors.pip_install("plot") == f"Try: pip install '{package}[plot]'."


@pytest.mark.parametrize("docs", ["", "https://docs.test", "https://docs.test/"])
def test_a_message_ends_with_the_address_of_its_condition(
    docs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and only where the metadata of the package name the docs."""
    links = ["Source, https://source.test"] + [f"Documentation, {docs}"] * bool(docs)
    monkeypatch.setattr(errors, "metadata", lambda _: SimpleNamespace(get_all=lambda _: links))
    error = refused("lag", 5, "has no unit", allowed="text", fix="lag='5s'")
    plain, address = "lag=5 has no unit. Allowed: text. Try: lag='5s'.", ""
    if docs:
        address = " See https://docs.test/reference/errors/#invalid_argument"
    assert str(error) == plain + address
    assert str(pickle.loads(pickle.dumps(error))) == plain + address  # noqa: S301 - our own bytes
    drained = BY_NAME["CheckpointError"]("[CHECKPOINT_DRAINED] Drained.")
    assert str(drained) == "[CHECKPOINT_DRAINED] Drained."
    drained.condition = "CHECKPOINT_DRAINED"
    said = str(drained)
    drained.args = (said,)  # as the jar writes it
    assert str(drained) == said
