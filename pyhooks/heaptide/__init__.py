"""heaptide: a memory profiler and leak finder. The command does the work; this package names its version."""

__version__ = "0.1.0"
