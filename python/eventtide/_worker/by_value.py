"""Functions for Spark's workers, on which eventtide may not be installed."""

from __future__ import annotations

from contextlib import ExitStack
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle

from eventtide.errors import refused

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ByValue"]

_PICKLING = Lock()  # the registrations are global to the process


class ByValue:
    """A function that is pickled together with some of our modules.

    It is pickled at once, because Spark Connect pickles functions only when it sends a plan.
    """

    def __init__(self, function: Callable[..., Any], *modules: str) -> None:
        """Pickle a function with modules, by their names; reject one that cannot be pickled."""
        self._function = function
        pickling: Any = cloudpickle  # untyped
        with _PICKLING, ExitStack() as registered:
            for module in map(import_module, modules):
                pickling.register_pickle_by_value(module)
                registered.callback(pickling.unregister_pickle_by_value, module)
            try:
                self._bytes: bytes = pickling.dumps(function)
            except Exception as error:
                problem = f"cannot be pickled: {error}"
                allowed = "a function that uses no sessions, locks or open files of this process"
                fix = "Create such objects inside the function"
                raise refused("function", function, problem, allowed=allowed, fix=fix) from error

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401 - those of the function
        """Call the function."""
        return self._function(*arguments)

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        """Unpickle as the function."""
        return cloudpickle.loads, (self._bytes,)
