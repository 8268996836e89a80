"""Runs programs under clang's LeakSanitizer and reads what it found."""

import re
from dataclasses import dataclass
from pathlib import Path

import heaptide_run
import program_build

# No suppressions of its own, whole stacks, and the program's own exit status.
OPTIONS = "exitcode=0:allocator_may_return_null=1:fast_unwind_on_malloc=0:print_suppressions=0:log_path={log}"


@dataclass
class Totals:
    """Leaked bytes and blocks, split as LeakSanitizer splits them."""

    direct_bytes: int = 0
    direct_blocks: int = 0
    indirect_bytes: int = 0
    indirect_blocks: int = 0


def lsan_totals(source, folder, *, arguments=(), status=0):
    """What LeakSanitizer finds in the program's main process. `folder` takes its log."""
    program = program_build.build(source, family="clang", flags=("-fsanitize=leak",))
    log = Path(folder) / "lsan"
    run = heaptide_run.execute(
        [program, *arguments], env={"LSAN_OPTIONS": OPTIONS.format(log=log)}, cwd=folder, timeout=120
    )
    assert run.status == status, run.describe()
    totals = Totals()
    path = Path(f"{log}.{run.pid}")  # written only where something leaked, one for each process
    text = path.read_text() if path.exists() else ""
    assert "fatal error" not in text, text
    for split, amount, blocks in re.findall(r"^(Direct|Indirect) leak of (\d+) byte.* in (\d+) object", text, re.M):
        if split == "Direct":
            totals.direct_bytes += int(amount)
            totals.direct_blocks += int(blocks)
        else:
            totals.indirect_bytes += int(amount)
            totals.indirect_blocks += int(blocks)
    return totals, text
