"""How every kernel is compiled and kept on disk, decided once."""

from setatoms._compile.kernels import JIT_DISABLED, Kernel, allocating_kernel, inlined, kernel, part
from setatoms._compile.notice import NOTICE
from setatoms._compile.store import STORE, KernelStore

__all__ = [
    "JIT_DISABLED",
    "NOTICE",
    "STORE",
    "Kernel",
    "KernelStore",
    "allocating_kernel",
    "inlined",
    "kernel",
    "part",
]
