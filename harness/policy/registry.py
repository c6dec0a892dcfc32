"""Find plugins: bundled ones, installed distributions, files that a user names, and objects registered from Python."""

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from harness.disk import bundled
from harness.errors import HarnessError, UnexpectedExitError, did_you_mean
from harness.policy import hooks
from harness.policy.gallery import plugin_path
from harness.policy.kinds import KINDS, Policy
from harness.present.captured_output import output_to_stderr

T = TypeVar("T")

ENTRY_POINTS = "harness"

#: The objects registered in this process.
_registered: list[Any] = []

#: Names and objects of the plugins that this process has loaded, without the bundled ones.
loaded: list[tuple[str, Any]] = []


@dataclass(frozen=True)
class PluginSource:
    """A plugin that is not bundled and can be loaded: a file, or the entry point of an installed distribution."""

    name: str
    origin: str  # for messages; unique
    read: Callable[[], Any]
    from_folder: bool = False  # other files of the folder may have the hooks

    def load(self) -> Any:
        """Import the plugin."""
        return _import(self.read, self.origin)


#: Returns the plugin of a source, or None if this process must not have it.
_load_source: Callable[[PluginSource], Any] = PluginSource.load


@contextmanager
def loading_by(load: Callable[[PluginSource], Any]) -> Iterator[None]:
    """Within the block, `load` returns the object to register for a plugin that is not bundled; None leaves it out."""
    global _load_source
    if _registered:
        names = ", ".join(str(getattr(plugin, "__name__", plugin)) for plugin in _registered)
        raise HarnessError(f"{names}: registered in this process already: expected plugins given as files")
    before, _load_source = _load_source, load
    _plugins.cache_clear()
    try:
        yield
    finally:
        _load_source = before
        _plugins.cache_clear()


def plugin_sources(paths: Iterable[str | Path]) -> Iterator[PluginSource]:
    """Yield the plugins that are not bundled: those that are installed, then the files and folders at `paths`."""
    for point in entry_points(group=ENTRY_POINTS):
        yield PluginSource(point.name, f"the entry point {point.name!r}", point.load)
    for given in paths:
        found = plugin_path(given)
        if found.is_file() and found.suffix != ".py":
            raise HarnessError(f"--plugins {given}: expected a Python file or a folder of them")
        files = _files(found) if found.is_dir() else [found]
        if not files:
            raise HarnessError(
                f"--plugins {given}: contains no plugin: expected Python files (names that begin with _ do not count)"
            )
        for path in files:
            yield PluginSource(path.name, str(path), partial(_load, path), from_folder=found.is_dir())


class Plugins:
    """All plugins of one run: the policies, readers and measures that they offer."""

    def __init__(self, paths: Iterable[str | Path] = (), extra: Iterable[Any] = ()) -> None:
        self.manager = pluggy.PluginManager("harness")
        self.manager.add_hookspecs(hooks)
        self.origins: dict[int, str] = {}  # plugin → its origin, for messages
        self.others: list[tuple[str, Any]] = []  # name and plugin of those that are not bundled
        for path in _files(bundled.folder("plugins")):
            self._add(_import(partial(_load, path), str(path)), str(path))
        for source in plugin_sources(paths):
            if (plugin := _load_source(source)) is not None:
                self.others.append((source.name, plugin))
                self._add(plugin, source.origin)
                if not source.from_folder and not self.manager.get_hookcallers(plugin):
                    raise HarnessError(
                        f"{source.origin}: has no hook: expected a function such as order_queue with @harness.hookimpl "
                        "above it"
                    )
        for plugin in extra:
            name = str(getattr(plugin, "__name__", getattr(plugin, "name", plugin)))
            self.others.append((name, plugin))
            self._add(plugin, f"the registered plugin {getattr(plugin, '__name__', plugin)!r}")

    def _add(self, plugin: Any, origin: str) -> None:
        if isinstance(plugin, Policy):
            plugin = _Single(plugin)
        if self.manager.is_registered(plugin):
            return
        self._refuse_unknown_hooks(plugin, origin)
        self.origins[id(plugin)] = origin
        try:
            self.manager.register(plugin, name=f"{origin} #{len(self.origins)}")
        except pluggy.PluginValidationError as error:  # its last line names the unknown argument
            raise HarnessError(f"{origin}: {str(error).splitlines()[-1]}") from error

    def _refuse_unknown_hooks(self, plugin: Any, origin: str) -> None:
        known = [name for name in dir(hooks) if hasattr(getattr(hooks, name), "harness_spec")]
        for name in dir(plugin):
            options = getattr(getattr(plugin, name, None), "harness_impl", None)
            hook = (options.get("specname") or name) if options else None
            if hook and hook not in known:
                raise HarnessError(f"{origin}: there is no hook {hook!r}; {did_you_mean(hook, known)}")
            if name in known and not options:
                raise HarnessError(f"{origin}: its {name!r} is not marked: expected @harness.hookimpl above it")

    @cached_property
    def policies(self) -> Mapping[str, Mapping[str, Policy]]:
        """All policies: hook → name → policy."""
        found: dict[str, dict[str, Policy]] = {}
        sources: dict[tuple[str, str], str] = {}
        for hook, kind in KINDS.items():
            found[hook] = {}
            for policy, origin in self.offered(hook, kind):
                if policy.name in found[hook]:
                    raise HarnessError(
                        f"the {kind.__name__.lower()} policy {policy.name!r} of {origin} is already taken by "
                        f"{sources[hook, policy.name]}: expected another name"
                    )
                found[hook][policy.name] = policy
                sources[hook, policy.name] = origin
            found[hook] = dict(sorted(found[hook].items()))
        return found

    def offered(self, hook: str, kind: type[T]) -> Iterator[tuple[T, str]]:
        """Yield the objects that the plugins return for a hook, each with its origin."""
        for implementation in getattr(self.manager.hook, hook).get_hookimpls():
            origin = self.origins[id(implementation.plugin)]
            listed = _import(implementation.function, f"{origin}: {hook}")
            if not isinstance(listed, list | tuple):
                raise HarnessError(
                    f"{origin}: {hook} returned {listed!r:.60}, expected a list of harness.{kind.__name__}"
                )
            for one in listed:
                if not isinstance(one, kind):
                    raise HarnessError(f"{origin}: {hook} returned {one!r:.60}, expected harness.{kind.__name__}")
                yield one, origin


class _Single:
    """A plugin that consists of one policy."""

    def __init__(self, policy: Policy) -> None:
        self.__name__ = policy.name

        def offer() -> list[Policy]:
            return [policy]

        setattr(self, policy.hook, hooks.hookimpl(offer))


def register(plugin: Any) -> Any:
    """Add a plugin (a module, an object with hook implementations, or one policy) for this process."""
    _registered.append(plugin)
    _plugins.cache_clear()
    return plugin


def unregister(plugin: Any) -> None:
    """Remove a plugin that was added with `register`."""
    _registered.remove(plugin)
    _plugins.cache_clear()


def plugins(*paths: str) -> Plugins:
    """Return the plugins of this process and those at `paths`; changed files are read again."""
    places = [plugin_path(path) for path in paths]
    files = [file for place in places for file in (_files(place) if place.is_dir() else [place])]
    found = _plugins(tuple(dict.fromkeys(paths)), tuple((file, _stamp(file)) for file in files))
    loaded.extend(one for one in found.others if not any(one[1] is plugin for _, plugin in loaded))
    return found


@lru_cache(maxsize=8)
def _plugins(paths: tuple[str, ...], stamps: tuple[Any, ...]) -> Plugins:
    return Plugins(paths, _registered)


def _stamp(file: Path) -> Any:
    return file.stat().st_mtime_ns if file.exists() else None


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))


def _load(path: Path) -> ModuleType:
    """Import a plugin file under a unique name, derived from its path."""
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"harness_plugin_{path.stem}_{place}"  # the same in every process: compiled kernels refer to it
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise HarnessError(f"{path}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def read_by_plugins(ask: Any, kind: type[T], named: str, **given: Any) -> T | None:
    """Return the object that a plugin reads from the source that a user `named`, or None if no plugin can read it."""
    try:
        answer = ask(**given)
    except Exception as error:
        if not isinstance(error, HarnessError):
            error.add_note(f"while a plugin read the {ask.name.removeprefix('read_')} {named[:80]}")
        raise
    if answer is None or isinstance(answer, kind):
        return answer
    raise HarnessError(f"{named[:80]}: {ask.name} returned {answer!r:.50}, expected a harness.{kind.__name__} or None")


def _import(load: Any, origin: str) -> Any:
    try:
        with output_to_stderr():
            return load()
    except HarnessError as error:
        raise HarnessError(f"{origin}: {error}") from error
    except SyntaxError as error:
        raise HarnessError(
            f"{origin} fails: SyntaxError: {error.msg} ({error.filename}, line {error.lineno})"
        ) from error
    except (Exception, SystemExit) as error:
        # If `os._exit` was replaced by an exception, the last line is in the harness.
        line = traceback.extract_tb(error.__traceback__)[-2 if isinstance(error, UnexpectedExitError) else -1]
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, AttributeError) and text.endswith(f"No harness attribute {error.args[0].split()[-1]}"):
            import harness

            text += f"; {did_you_mean(text.split()[-1], dir(harness), 'see `harness list verbs`')}"
        raise HarnessError(f"{origin} fails: {text} ({line.filename}, line {line.lineno})") from error
