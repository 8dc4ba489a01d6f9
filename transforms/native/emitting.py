"""Makes machine code of Python functions: numba writes their modules, and LLVM optimizes them.

numba optimizes each function when it is compiled, with all that it calls, and makes machine code of
it. So code that is called through five functions is optimized five times, and only the last result
is used. Here a function stays as it is until all that one entry needs is optimized at once. That
takes a third of the CPU of the first run less.

Only a process that compiles imports this module: importing numba takes longer than loading all code
from the cache.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import binding, ir
from numba import njit, typeof, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import models, register_default
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from beam_bleu.transforms.native.compiling import Vectors
from beam_bleu.transforms.native.machine_code import ENTRY

__all__ = ["dispatcher", "machine_code", "register", "type_of_operation"]

_I64 = ir.IntType(64)

_ONLY_HERE = binding.Linkage.linkonce_odr
"""The linkage of functions that are left out if all their callers have copies of them."""

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
    """Numba's type for a type of `operation`."""
    if isinstance(kind, tuple):
        return types.UniTuple(_type(kind[0]), len(kind))
    return _VectorType(kind) if isinstance(kind, Vectors) else getattr(types, kind)


def type_of_operation(code: Callable[..., Any], result: Any, arguments: Sequence[Any]) -> _Type:
    """The type that stands for an operation in code that numba compiles. See `operation`."""

    @functools.wraps(code)  # numba reads the names of the arguments
    def typed(_typing_context: Any, *given: Any) -> Any:
        kinds = [
            called if kind is None else _type(kind)
            for kind, called in zip(arguments, given, strict=True)
        ]

        def codegen(context: Any, builder: _Builder, signature: Any, args: Sequence[_Value]) -> Any:
            value = code(builder, *args)
            if isinstance(value, list):
                return context.make_tuple(builder, signature.return_type, value)
            return context.get_dummy_value() if value is None else value

        return _type(result)(*kinds), codegen

    made = intrinsic(typed)
    context = cpu_target.typing_context
    context.refresh()  # so that it knows the new one
    return context.resolve_value_type(made)


def register(function: Any, instead: Callable[..., Any]) -> None:
    """Lets compiled code call a plain function, in whose place it runs `instead`."""
    overload(function, strict=False)(lambda *_arguments: instead)


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What numba compiles a function with.

    Without numba's runtime, so the function cannot make arrays: its code needs nothing of numba
    when it runs.
    """
    return njit(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)


class _Library(JITCodeLibrary):
    """The code of a function and of all that it calls, not optimized, and not in memory to run."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """`_optimize` does it, for an entry."""

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
    """Compiles a function for arguments of these types; returns what `LoadedCode` takes.

    Args:
      compiler: its `dispatcher`.
      name: its name, for messages.
      arguments: examples of the arguments.

    Raises:
      TypeError: the code would need a part of numba or Python when it runs.
    """
    signature = tuple(typeof(argument) for argument in arguments)
    with _only_writing_modules():
        compiler.compile(signature)
    result = compiler.overloads[signature]
    context = result.target_context
    module = binding.parse_assembly(str(_entry(context, result.fndesc)))
    module.link_in(result.library._get_module_for_linking(), preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name != ENTRY:
            function.linkage = _ONLY_HERE
    machine = context.codegen()._tm
    _optimize(module, machine)
    missing = [
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith("llvm.")
    ]
    if missing:
        raise TypeError(f"{name} cannot be compiled, because its code needs {', '.join(missing)}")
    words = "=" + "".join(map(_format, _parts(result.fndesc.restype)))
    return words.encode() + b"\n" + bytes(machine.emit_object(module))


def _optimize(module: Any, machine: Any) -> None:
    """Optimizes all code of an entry."""
    options = binding.PipelineTuningOptions(speed_level=3)
    options.loop_vectorization = True
    builder = binding.PassBuilder(machine, options)
    # Functions that are simple before they are copied into others make the kernel 2 % faster.
    for function in module.functions:
        if not function.is_declaration:
            builder.getFunctionPassManager().run(function, builder)
    builder.getModulePassManager().run(module, builder)


def _entry(context: Any, function: Any) -> Any:
    """A module with one C function: `int32 ENTRY(int64 *words)`.

    `words` has the words of all arguments, and then room for those of the result. It returns 0,
    or the number of numba's status if the function raised an exception.
    """
    module = context.create_module(ENTRY)
    callee = ir.Function(
        module,
        context.call_conv.get_function_type(function.restype, function.argtypes),
        function.llvm_func_name,
    )
    entry = ir.Function(module, ir.FunctionType(ir.IntType(32), [_I64.as_pointer()]), name=ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    places = (builder.gep(entry.args[0], [ir.Constant(_I64, word)]) for word in itertools.count())
    words = (builder.load(place) for place in places)
    arguments = [_argument(context, builder, argtype, words) for argtype in function.argtypes]
    status, result = context.call_conv.call_function(
        builder, callee, function.restype, function.argtypes, arguments
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(status.code)
    parts, kinds = [], _parts(function.restype)
    if isinstance(function.restype, types.BaseTuple):
        parts = cgutils.unpack_tuple(builder, result, len(kinds))
    elif kinds:
        parts = [result]
    for part, kind in zip(parts, kinds, strict=True):
        builder.store(_to_word(builder, part, kind), next(places))
    builder.ret(ir.Constant(ir.IntType(32), 0))
    return module


def _argument(context: Any, builder: _Builder, kind: _Type, words: Iterator[_Value]) -> _Value:
    """The argument that numba's code takes, from its words (see machine_code.py)."""
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder)
        item = context.get_data_type(kind.dtype)
        data = builder.inttoptr(next(words), item.as_pointer())
        shape = [next(words) for _ in range(kind.ndim)]
        strides = [next(words) for _ in range(kind.ndim)]
        size = context.get_constant(types.intp, context.get_abi_sizeof(item))
        populate_array(array, data, shape, strides, size, meminfo=None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = [_argument(context, builder, part, words) for part in kind]
        return context.make_tuple(builder, kind, parts)
    word = next(words)
    if isinstance(kind, types.Float) and kind.bitwidth == 64:
        return builder.bitcast(word, ir.DoubleType())
    if isinstance(kind, types.Boolean):
        return builder.trunc(word, context.get_value_type(kind))
    if isinstance(kind, types.Integer):
        llvm_type = context.get_value_type(kind)
        return word if llvm_type == _I64 else builder.trunc(word, llvm_type)
    raise TypeError(f"compiled code cannot be called with {kind}")


def _parts(kind: _Type) -> Sequence[_Type]:
    if isinstance(kind, types.NoneType):
        return ()
    return tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)


def _format(kind: _Type) -> str:
    """A word of the result as a format of `struct`, which has the bytes of numbers in order."""
    if isinstance(kind, types.Boolean):
        return "?7x"
    if isinstance(kind, types.Float) and kind.bitwidth == 64:
        return "d"
    if isinstance(kind, types.Integer):
        return "q" if kind.signed else "Q"
    raise TypeError(f"compiled code cannot return {kind}")


def _to_word(builder: _Builder, value: _Value, kind: _Type) -> _Value:
    if isinstance(kind, types.Float):
        return builder.bitcast(value, _I64)
    if value.type.width == 64:
        return value
    extended = builder.sext if _format(kind) == "q" else builder.zext
    return extended(value, _I64)
