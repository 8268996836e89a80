"""Objects as PyTorch has them, above the stand-in for its allocator (c10_pool.c): where heaptide looks for tensors."""

import ctypes
import sys
import types

MIB = 1 << 20
allocator = ctypes.CDLL("libc10_hip.so")
make, give = allocator.tensor_make, allocator.tensor_give
make.restype, make.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
give.restype, give.argtypes = None, [ctypes.c_void_p, ctypes.c_size_t]


class DType:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name


class Storage:
    def __init__(self, nbytes):
        self._nbytes = nbytes

    def nbytes(self):
        return self._nbytes


class Tensor:
    is_cuda = True

    def __init__(self, address, nbytes, shape, dtype):
        self.address, self.nbytes, self.shape, self.dtype = address, nbytes, shape, DType(dtype)
        self._storage = Storage(nbytes)

    def untyped_storage(self):
        return self._storage

    def get_device(self):
        return 0

    def data_ptr(self):
        return self.address


class Parameter(Tensor):
    pass


torch, parameters = types.ModuleType("torch"), types.ModuleType("torch.nn.parameter")
torch.Tensor, parameters.Parameter = Tensor, Parameter
sys.modules["torch"], sys.modules["torch.nn.parameter"] = torch, parameters


class Model:
    def __init__(self):
        self.layers = {"first": Parameter(make(6 * MIB), 6 * MIB, (1024, 1536), "float32")}  # @weights


def activations():
    return Tensor(make(4 * MIB), 4 * MIB, (2, 1024, 1024), "bfloat16")  # @activations


def on_the_cpu():
    tensor = Tensor(0, 64 * MIB, (64 * MIB,), "uint8")
    tensor.is_cuda = False
    return tensor


def expanded(tensor):
    view = Tensor(tensor.address, 512 * MIB, (128, 1024, 1024), "float32")
    view._storage = tensor._storage
    return view


def given_back():
    """As resize_(0) of its storage leaves a tensor."""
    tensor = Tensor(0, 64 * MIB, (64 * MIB,), "uint8")
    tensor._storage = Storage(0)
    return tensor


model = Model()
cache = [on_the_cpu(), activations()]
dropped = make(2 * MIB)  # @dropped
give(dropped, 2 * MIB)
scalar = Tensor(make(4), 4, (), "float32")  # @scalar
del dropped
wide = expanded(Tensor(make(3 * MIB), 3 * MIB, (1, 1024, 768), "float32"))  # @expanded
empty = given_back()
unknown = Tensor(0, 64 * MIB, (64 * MIB,), "uint8")
del unknown.nbytes
