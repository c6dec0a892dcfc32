"""A kernel is made machine code once, with all functions that it calls.

numba optimises every function as soon as it is compiled, with all that it calls inside, and makes machine code of it:
what lies ten calls deep is optimised and emitted ten times over, and never called. Here a function stays as it was
written until somebody asks where it lies, which nobody does but for kernels.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target

_SHARED = (llvm.Linkage.external, llvm.Linkage.linkonce_odr)


@contextmanager
def late_linking() -> Iterator[None]:
    """Make machine code of functions that are compiled within the block only when their address is needed.

    Garbage is left alone until then: numba makes millions of objects that live on, and looking through them again and
    again takes a sixth of the time.
    """
    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock:
        ordinary, codegen._library_class = codegen._library_class, LateLibrary
        collecting = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            codegen._library_class = ordinary
            if collecting:
                gc.enable()


class LateLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """One compiled function, which is linked with its callees when its address is needed."""

    emitted = False

    def finalize(self) -> None:
        """Nothing can be added any more."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return where a function lies; 0 if there is none of that name, such as a wrapper that was left out."""
        self._ensure_finalized()
        if not self.emitted and any(f.name == name for f in self._final_module.functions if not f.is_declaration):
            self.emit()
        return int(super().get_pointer_to_function(name)) if self.emitted else 0

    def emit(self) -> None:
        """Link the function with all that it calls, optimise the whole, and make machine code of it."""
        module = self._final_module
        own = {function.name for function in module.functions if not function.is_declaration}
        for library in self._called():
            self._reload_init.update(library._reload_init)
            late = isinstance(library, LateLibrary) and not library.emitted
            module.link_in(library._final_module if late else library._get_module_for_linking(), preserve=True)
        for function in module.functions:  # no other module calls them: LLVM drops those that are inlined everywhere
            if not function.is_declaration and function.name not in own and function.linkage in _SHARED:
                function.linkage = llvm.Linkage.internal
        self._optimize_final_module()
        module.verify()
        self._finalize_final_module()
        for name in (variable.name for variable in module.global_variables):
            environment = lookup_environment(name)
            if environment is not None:
                self._codegen.set_env(name, environment)

    def _finalize_final_module(self) -> None:
        self.emitted = True
        super()._finalize_final_module()

    def _called(self) -> list[Any]:
        """List the libraries that this one calls, directly or not; those that are machine code already come last."""
        found: dict[Any, None] = {}
        todo = list(self._linking_libraries)
        while todo:
            library = todo.pop()
            if library not in found:
                found[library] = None
                library._ensure_finalized()
                if isinstance(library, LateLibrary) and not library.emitted:
                    todo += library._linking_libraries
        return sorted(found, key=lambda library: not isinstance(library, LateLibrary) or library.emitted)

    def _get_module_for_linking(self) -> Any:
        if not self.emitted:
            self.emit()
        return super()._get_module_for_linking()

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        """Return the machine code and the names in it. No other code is ever linked with kept code."""
        things = (*self._final_module.functions, *self._final_module.global_variables)
        names = [thing.name for thing in things if not thing.is_declaration]
        return self.name, "object", (self._get_compiled_object(), names)

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, Any]) -> "LateLibrary":
        name, _, (code, names) = state
        self: LateLibrary = codegen.create_library(name)
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._finalize_final_module()
        codegen._engine._defined_symbols.update(names)
        return self

    @property
    def codegen(self) -> Any:
        """Return the code generator; environments are set only once the library is machine code."""
        return self._codegen if self.emitted else _NoEnvironment(self._codegen)


class _NoEnvironment:
    """A code generator that leaves the environments of functions alone; `emit` sets them."""

    def __init__(self, codegen: Any) -> None:
        self.codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self.codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""
