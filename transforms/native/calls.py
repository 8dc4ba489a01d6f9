"""Calls of compiled code by compiled code through an address.

A function that others call by name is a part of their code, and is compiled with them. A large one
that most runs do not need can have an entry of its own instead: Python loads or compiles it when a
run first needs it (`CompiledFunction.entry`), and gives its address to the code that calls it.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from beam_bleu.transforms.native.compiling import cgutils, intrinsic, ir, types


@intrinsic
def call(typingctx, entry, arguments):
    """Calls a compiled function by the address of its entry.

    The function returns an int64, and must not raise an exception. The arguments are a tuple of
    numbers of 64 bits and of such tuples.
    """

    def codegen(context, builder, signature, args):
        word = ir.IntType(64)
        words = list(_words(builder, signature.args[1], args[1]))
        memory = cgutils.alloca_once(builder, word, size=len(words) + 1)
        places = [builder.gep(memory, [word(index)]) for index in range(len(words) + 1)]
        for value, place in zip(words, places, strict=False):
            builder.store(value, place)
        function = ir.FunctionType(ir.IntType(32), [word.as_pointer()])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), [memory])
        return builder.load(places[-1])

    return types.int64(types.int64, arguments), codegen


def _words(builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """The words of an argument (see machine_code.py)."""
    if isinstance(kind, types.BaseTuple):
        for index, item in enumerate(kind):
            yield from _words(builder, item, builder.extract_value(value, index))
    elif isinstance(kind, types.Integer) and kind.bitwidth == 64:
        yield value
    else:
        raise TypeError(f"compiled code cannot call an entry with {kind}")
