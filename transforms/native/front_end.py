"""From Python functions to LLVM's intermediate code, with numba.

numba optimizes each function when it is compiled, with all that it calls, and makes machine code of
it. So code that is called through five functions is optimized five times, and only the last result
is used. Here a function stays as it is until all that one entry needs is optimized at once
(emitting.py). That, and passes of numba that change nothing in our functions, took half of the CPU
of the first run.

Only a process that compiles imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from numba import njit
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import CodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass

__all__ = ["dispatcher", "modules_of"]

_WITHOUT_EFFECT = frozenset(
    [
        # They are for `with`, closures, `raise` with variables, lists of several types, ...
        untyped_passes.WithLifting,
        untyped_passes.InlineClosureLikes,
        untyped_passes.RewriteDynamicRaises,
        untyped_passes.MakeFunctionToJitFunction,
        untyped_passes.InlineInlinables,
        untyped_passes.FindLiterallyCalls,
        untyped_passes.LiteralUnroll,
        untyped_passes.LiteralPropagationSubPipelinePass,
        # ... expressions that make arrays, and texts for people.
        typed_passes.InlineOverloads,
        typed_passes.NopythonRewrites,
        typed_passes.AnnotateTypes,
        typed_passes.DumpParforDiagnostics,
    ]
)
"""Passes that change no function that compiled code can have."""


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What numba compiles a function with.

    Without numba's runtime, so the function cannot make arrays: its code needs nothing of numba
    when it runs.
    """
    return njit(
        _nrt=False,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=_Compiler,
        **options,
    )(function)


def modules_of(library: CodeLibrary) -> Iterator[str]:
    """The modules of a function and of all that it needs, each once, as LLVM's assembly."""
    waiting, done = [library], set()
    while waiting:
        needed = waiting.pop()
        if needed in done:
            continue
        done.add(needed)
        if isinstance(needed, _Modules):
            yield from needed.modules
            waiting += needed.libraries
        else:  # a function of numba itself, with all that it needs
            yield str(needed._get_module_for_linking())


class _Modules(CodeLibrary):
    """The modules of a function, not optimized, and the libraries of what it calls."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.modules: list[str] = []
        self.libraries: list[CodeLibrary] = []

    def add_ir_module(self, module: Any) -> None:
        """Adds code of the function."""
        self.modules.append(str(module))

    def add_linking_library(self, library: CodeLibrary) -> None:
        """Adds what the function calls."""
        self.libraries.append(library)

    def finalize(self) -> None:
        """There is nothing to do: all is done when an entry is compiled."""
        self._finalized = True

    def get_function(self, name: str) -> Any:
        """There are no functions before an entry is compiled."""
        raise KeyError(name)

    def get_llvm_str(self) -> str:
        """The code of the function."""
        return "\n".join(self.modules)

    def get_asm_str(self) -> str:
        """There is no machine code."""
        return ""


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.NativeLowering):
    """Lowers a function, and makes it known to its callers without machine code."""

    _name = "beam_bleu_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lowers the function of this state."""
        state.library = _Modules(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # Callers find a function by an object in place of its machine code. numba wants a
        # built-in function, and a method of a new object is equal to no other.
        key = object().__reduce__
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=key)
        return True


class _Compiler(Compiler):
    """numba's compiler, with our lowering and without passes that have no effect."""

    def define_pipelines(self) -> list[Any]:
        """The passes, in order."""
        managers = super().define_pipelines()
        for manager in managers:
            manager.passes = [
                (_Lowering if each is typed_passes.NativeLowering else each, text)
                for each, text in manager.passes
                if each not in _WITHOUT_EFFECT
            ]
            manager.finalize()
        return list(managers)
