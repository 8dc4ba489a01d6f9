"""Makes machine code of Python functions: numba writes LLVM modules, and LLVM optimizes them.

numba would optimize code that is called through five functions five times. Here everything that an
entry needs is optimized once, which saves a third of the CPU of the first run.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import binding, ir
from numba import njit, typeof, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import ArgPacker, models, register_default
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

from beam_bleu.transforms.native.compiling import Vectors
from beam_bleu.transforms.native.machine_code import ENTRY

_I64 = ir.IntType(64)

_Builder = Any  # numba and llvmlite are untyped
_Value = Any
_Type = Any


class _VectorType(types.Type):
    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        super().__init__(name=repr(vectors))


@register_default(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _VectorType) -> None:
        vectors = kind.vectors
        vector = ir.VectorType(_I64, vectors.lanes)
        several = ir.ArrayType(vector, vectors.count) if vectors.count else vector
        super().__init__(manager, kind, several)


def _type(kind: Any) -> _Type:
    if isinstance(kind, tuple):
        return types.UniTuple(_type(kind[0]), len(kind))
    return _VectorType(kind) if isinstance(kind, Vectors) else getattr(types, kind)


def type_of_operation(code: Callable[..., Any], result: Any, arguments: Sequence[Any]) -> _Type:
    @functools.wraps(code)  # numba reads the names of the arguments
    def typed(_typing_context: Any, *call_types: Any) -> Any:
        kinds = [
            called if kind is None else _type(kind)
            for kind, called in zip(arguments, call_types, strict=True)
        ]

        def codegen(context: Any, builder: _Builder, signature: Any, args: Sequence[_Value]) -> Any:
            value = code(builder, *args)
            if isinstance(value, list):
                return context.make_tuple(builder, signature.return_type, value)
            return context.get_dummy_value() if value is None else value

        return (kinds[0] if result is None else _type(result))(*kinds), codegen

    made = intrinsic(typed)
    context = cpu_target.typing_context
    context.refresh()  # so that it knows the new function
    return context.resolve_value_type(made)


def register(function: Any, instead: Callable[..., Any]) -> None:
    overload(function, strict=False)(lambda *_arguments: instead)


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The compiler of a function, without numba's runtime, so that it cannot make arrays."""
    return njit(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)


class _Library(JITCodeLibrary):
    """The code of a function and of all that it calls, not optimized, and not in memory to run."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """`_optimize` does this for an entry."""

    def _finalize_final_module(self) -> None:
        """Nothing runs the code."""


@contextlib.contextmanager
def _only_writing_modules() -> Iterator[None]:
    """Lets numba write modules, and neither optimize nor load them. Needs the compiler's lock."""
    codegen = cpu_target.target_context.codegen()
    usual = codegen._library_class
    codegen._library_class = _Library
    codegen.set_env = lambda _name, _environment: None  # there is none without loaded code
    try:
        yield
    finally:
        codegen._library_class = usual
        del codegen.set_env


@global_compiler_lock  # type: ignore[untyped-decorator]  # numba is untyped
def machine_code(compiler: Any, name: str, arguments: Sequence[Any]) -> bytes:
    signature = tuple(typeof(argument) for argument in arguments)
    with _only_writing_modules():
        compiler.compile(signature)
    result = compiler.overloads[signature]
    context = result.target_context
    module = binding.parse_assembly(str(_entry(context, result.fndesc)))
    module.link_in(result.library._get_module_for_linking(), preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name != ENTRY:
            function.linkage = binding.Linkage.linkonce_odr  # left out if all callers have copies
    machine = context.codegen()._tm
    _optimize(module, machine)
    missing = [
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith("llvm.")
    ]
    if missing:
        raise TypeError(f"{name} cannot be compiled, because its code needs {', '.join(missing)}")
    return f"{_format(result.fndesc.restype)}\n".encode() + bytes(machine.emit_object(module))


def _optimize(module: Any, machine: Any) -> None:
    options = binding.PipelineTuningOptions(speed_level=3)
    options.loop_vectorization = True
    builder = binding.PassBuilder(machine, options)
    # To simplify functions before they are copied into others makes the kernel 2 % faster.
    for function in module.functions:
        if not function.is_declaration:
            builder.getFunctionPassManager().run(function, builder)
    builder.getModulePassManager().run(module, builder)


def _entry(context: Any, function: Any) -> Any:
    module = context.create_module(ENTRY)
    callee = ir.Function(
        module,
        context.call_conv.get_function_type(function.restype, function.argtypes),
        function.llvm_func_name,
    )
    entry = ir.Function(module, ir.FunctionType(ir.IntType(32), [_I64.as_pointer()]), name=ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    numbers = itertools.count()

    def place(kind: Any) -> Any:
        word = builder.gep(entry.args[0], [ir.Constant(_I64, next(numbers))])
        return builder.bitcast(word, kind.as_pointer())

    packer = ArgPacker(context.data_model_manager, function.argtypes)
    parts = [builder.load(place(kind)) for kind in packer.argument_types]
    arguments = packer.from_arguments(builder, parts)
    status, result = context.call_conv.call_function(
        builder, callee, function.restype, function.argtypes, arguments
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(status.code)
    if function.restype != types.none:
        packer = ArgPacker(context.data_model_manager, (function.restype,))
        for part in packer.as_arguments(builder, (result,)):
            builder.store(part, place(part.type))
    builder.ret(ir.Constant(ir.IntType(32), 0))
    return module


_FORMATS = {types.boolean: "?7x", types.float64: "d", types.int64: "q", types.uint64: "Q"}
"""A word of the result, as a format of `struct`."""


def _format(result: _Type) -> str:
    parts = result if isinstance(result, types.BaseTuple) else [result]
    return "=" + "".join(_FORMATS[part] for part in parts if part != types.none)
