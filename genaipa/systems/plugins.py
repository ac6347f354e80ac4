"""Classes of the user's own: by `module:Class`, from the working folder or installed."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.errors import GenaipaError, UsageError
from genaipa.plugins import load_object
from genaipa.systems.provider import redact_keys

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def append_working_folder_to_sys_path() -> Iterator[None]:
    """Let modules of the working folder be found meanwhile, where nothing that is installed has their name.

    A folder that somebody sent may hold a file that is called like a library: it must never be imported in its place.
    """
    folder = str(Path.cwd())
    if folder in sys.path:
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def find_class_source_file(class_path: str) -> Path | None:
    """Return the file that a user's own class is read from; None if there is none to be found."""
    try:
        with append_working_folder_to_sys_path():
            spec = importlib.util.find_spec(class_path.partition(":")[0])
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def make_user_class_instance(class_path: str, *arguments: object) -> Any:
    """Make an instance of a user's own class; a UsageError if it can't be had, whatever it raises."""
    with _translate_class_load_errors(class_path, arguments):
        return load_object(class_path)(*arguments)


def load_user_class(class_path: str) -> Any:
    """Load a user's own class; raises the errors of `make_user_class_instance`."""
    with _translate_class_load_errors(class_path):
        return load_object(class_path)


@contextlib.contextmanager
def _translate_class_load_errors(class_path: str, arguments: tuple[object, ...] = ()) -> Iterator[None]:
    try:
        with append_working_folder_to_sys_path():
            yield
    except GenaipaError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(f"{class_path}: {_missing_module_message(class_path, error)}") from None
    except AttributeError as error:
        if error.name != class_path.partition(":")[2]:
            raise _class_load_error(class_path, error) from error
        raise UsageError(f"{class_path}: the module has no '{error.name}'; name a class that it has.") from None
    except TypeError as error:
        arguments_text = "those arguments" if arguments else "arguments"
        raise UsageError(
            f"{class_path} can't be instantiated with{'' if arguments else 'out'} {arguments_text} ({error})."
        ) from None
    except Exception as error:
        raise _class_load_error(class_path, error) from error


def _missing_module_message(class_path: str, error: ModuleNotFoundError) -> str:
    """Say which module is missing: that of the target, or one that a file of it imports."""
    module = class_path.partition(":")[0]
    if error.name and not f"{module}.".startswith(f"{error.name}."):
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        importing = [Path(file).name for file in files if not file.startswith("<")]
        if importing:
            return f"{importing[-1]} imports {error.name}, which is not installed."
    return f"the module '{error.name}' is neither in this folder nor installed."


def _class_load_error(class_path: str, error: Exception) -> UsageError:
    return UsageError(redact_keys(f"{class_path} can't be instantiated ({type(error).__name__}: {error})."))
