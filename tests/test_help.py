"""Help, topics, man page, completion and doctor: each names what the options' own tables hold."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from heaptide_run import COMMAND, command, execute
from program_build import REPOSITORY

COMPLETION = REPOSITORY / "cli" / "completion"


def words_of(*asked):
    done = command(*asked)
    assert done.status == 0 and done.stderr == "", done.describe()
    return done.stdout.decode().split()


COMMANDS = words_of("--list-commands")
TOPICS = words_of("--list-topics")


def options_of(name):
    """{option: (kind, choices)} of a command, from the table that parses it."""
    lines = command(name, "--list-options").stdout.decode().splitlines()
    return {line.split()[0]: tuple(line.split()[1:]) for line in lines}


def test_the_commands_of_this_version():
    assert {"run", "report", "diff", "export", "doctor", "help"} <= set(COMMANDS)
    listed = command("help").stdout.decode()
    assert all(re.search(rf"^  {name} ", listed, re.MULTILINE) for name in COMMANDS + TOPICS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_exactly_the_options_there_are(name):
    text = command("help", name).stdout.decode()
    assert text.startswith(f"usage: heaptide {name}")
    described = set(re.findall(r"^  (-[-\w]*)", text, re.MULTILINE))
    assert described == set(options_of(name))


@pytest.mark.parametrize("name", TOPICS)
def test_topics(name):
    done = command("help", name)
    assert done.status == 0 and len(done.stdout) > 100 and done.stderr == ""
    assert all(len(line) <= 120 for line in done.stdout.decode().splitlines())


def test_an_unknown_topic():
    done = command("help", "nonsense")
    assert done.status == 2 and done.stdout == b"" and "no such command or topic" in done.stderr


# --- man page


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    page = tmp_path_factory.mktemp("man") / "heaptide.1"
    subprocess.run([sys.executable, REPOSITORY / "man" / "make_man.py", COMMAND, page], check=True)
    return page


def test_man_page_is_good_troff(manual):
    done = execute(["groff", "-man", "-Tutf8", "-ww", "-P-cbou", manual])
    assert done.status == 0 and done.stderr == "", done.describe()
    text = done.stdout.decode()
    sections = re.findall(r"^([A-Z][A-Z ]+)$", text, re.MULTILINE)
    assert sections[:4] == ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS"] and sections[-1] == "SEE ALSO"
    for name in COMMANDS:
        section = text[text.index(f"\n   {name}\n") :]
        assert all(re.search(rf"^ +{option}\b", section, re.MULTILINE) for option in options_of(name))
    assert "leak:parse_config" in text and "heaptide.PID-N.bin" in text


# --- completion


def bash_completes(*words, setup=""):
    """What bash offers for the last of these words."""
    script = f"""
        source {COMPLETION}/bash/heaptide
        {setup}
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _heaptide
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words], capture_output=True, text=True, env=path())
    assert done.returncode == 0 and done.stderr == "", done
    return set(done.stdout.split())


def zsh_completes(*words):
    """What zsh offers; its completion system is stood in for by functions that print what they are handed."""
    script = f"""
        compdef() {{ : }}
        compadd() {{ [[ $1 == -- ]] && shift; print -l -- "$@" }}
        _files() {{ print FILES }}
        _normal() {{ print NORMAL $CURRENT $words }}
        source {COMPLETION}/zsh/_heaptide
        words=("$@") CURRENT=$#
        _heaptide
    """
    done = subprocess.run(["zsh", "-f", "-c", script, "zsh", *words], capture_output=True, text=True, env=path())
    assert done.returncode == 0 and done.stderr == "", done
    return set(done.stdout.split())


def path():
    return os.environ | {"PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}


def test_the_embedded_scripts_are_the_installed_ones():
    assert command("help", "bash-completion").stdout == (COMPLETION / "bash" / "heaptide").read_bytes()
    assert command("help", "zsh-completion").stdout == (COMPLETION / "zsh" / "_heaptide").read_bytes()


def test_bash_completes_commands():
    assert bash_completes("heaptide", "") == {*COMMANDS, "--help", "--version"}
    assert bash_completes("heaptide", "re") == {"report"}
    assert bash_completes("heaptide", "help", "") == {*COMMANDS, *TOPICS}


@pytest.mark.parametrize("name", COMMANDS)
def test_bash_completes_options(name):
    if name != "help":
        assert bash_completes("heaptide", name, "-") == {*options_of(name), "--help"}


def test_bash_completes_choices():
    assert bash_completes("heaptide", "report", "--fail-on", "") == {"any", "leaks", "growth", "none"}
    assert bash_completes("heaptide", "export", "--format", "s") == {"speedscope"}


def test_bash_leaves_files_to_bash():
    assert bash_completes("heaptide", "report", "hea") == set()


def test_bash_completes_the_program_that_run_starts():
    assert "true" in bash_completes("heaptide", "run", "--depth", "5", "--", "tru")
    offset = "_command_offset() { COMPREPLY=(offset$1); }"
    assert bash_completes("heaptide", "run", "--depth", "5", "-q", "make", "te", setup=offset) == {"offset5"}
    assert bash_completes("heaptide", "run", "--depth=5", "--fail-on", "le", setup=offset) == {"leaks"}


def test_zsh_completes():
    assert zsh_completes("heaptide", "") == {*COMMANDS, "--help", "--version"}
    assert zsh_completes("heaptide", "help", "") == {*COMMANDS, *TOPICS}
    assert zsh_completes("heaptide", "diff", "-") == {*options_of("diff"), "--help"}
    assert zsh_completes("heaptide", "diff", "--fail-on", "") == {"new", "grown", "none"}
    assert zsh_completes("heaptide", "report", "x") == {"FILES"}
    assert zsh_completes("heaptide", "run", "--depth", "5", "-q", "make", "te") == {"NORMAL", "2", "make", "te"}


# --- doctor


def doctor(folder, *names, **variables):
    """`doctor` on a machine whose programs are those of `folder`."""
    return command("doctor", *names, env={"PATH": str(folder), "HEAPTIDE_SYMBOLIZER": None, **variables})


@pytest.fixture
def bare_machine(tmp_path):
    return tmp_path


def test_doctor_gives_the_command_that_fixes(bare_machine):
    (bare_machine / "apt-get").symlink_to("/bin/true")
    text = doctor(bare_machine, "gdb").stdout.decode()
    sudo = "" if os.geteuid() == 0 else "sudo "
    assert re.search(r"^gdb +missing +no gdb$", text, re.MULTILINE)
    assert re.search(rf"^ +fix +{sudo}apt-get install gdb$", text, re.MULTILINE)
    assert re.search(r"^ +for .*; heaptide attach works without$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("manager", "words"), [("dnf", "dnf install gdb"), ("pacman", "pacman -S gdb"), (None, "install gdb")]
)
def test_doctor_knows_other_package_managers(bare_machine, manager, words):
    if manager:
        (bare_machine / manager).symlink_to("/bin/true")
    assert doctor(bare_machine, "gdb").stdout.decode().rstrip().endswith(words)


def test_doctor_statuses(bare_machine):
    """Without names only the library is needed; what is named has to be there."""
    assert doctor(bare_machine).status == 0 and doctor(bare_machine, "gdb").status == 1
    (bare_machine / "gdb").symlink_to(shutil.which("true"))
    assert doctor(bare_machine, "gdb").status == 0
    assert doctor(bare_machine, HEAPTIDE_SYMBOLIZER="/no/such/program").status == 1
    assert doctor(bare_machine, "nonsense").status == 2


def test_what_is_missing_always_has_a_fix(bare_machine):
    lines = doctor(bare_machine).stdout.decode().splitlines()
    for line, after, last in zip(lines, lines[1:] + [""], lines[2:] + ["", ""]):
        if " missing " in line:
            assert after.split()[0] == "for" and last.split()[0] == "fix" and len(last.split()) > 1
    assert sum(" missing " in line for line in lines) >= 3
