"""Loads the extension module in the file given, and calls what loses native memory there."""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

loader = ExtensionFileLoader("extension", sys.argv[1])
extension = module_from_spec(spec_from_loader("extension", loader))
loader.exec_module(extension)


def outer(count):
    for _ in range(count):
        extension.lose(70_000)  # @lost


outer(30)  # @module
