"""Cases E: unwinding and names."""

import re
import shutil
import subprocess
from pathlib import Path

import heaptide_run
from conftest import CASES
from heaptide_run import beside, execute, read_reports
from test_cases_start import leaked, sound_report

RUN = f"{heaptide_run.COMMAND} run -q --"


def reports_below(folder, pattern="heaptide.*"):
    """The main reports of every run that left its default folder below `folder`, by program name."""
    found = []
    for place in sorted(path for path in Path(folder).rglob(pattern) if path.is_dir()):
        found += [(place, report) for report in read_reports(place) if report["main"] and report["reason"] != "exec"]
    return found


def test_57_code_without_unwind_data(case, out):
    report = sound_report(beside([case("jit.c", flags=("-O1",))], out=out))
    rows = [row for row in report["leaks"] if row["kind"] == "heap"]
    assert [(row["site"]["function"], row["direct_bytes"], row["blocks"]) for row in rows] == [("leaf", 4096000, 1000)]
    above = rows[0]["stack"][[frame["function"] for frame in rows[0]["stack"]].index("leaf") + 1 :]
    assert above and (above[0].get("lang") == "jit" or (above[0]["function"] or "[").startswith("[")), above
    assert above[1]["function"] == "main", "the code's epilogue tells where it was called from"


def test_60_debug_information_in_all_its_forms(tmp_path):
    execute(["bash", CASES / "debug_forms.sh"], cwd=tmp_path, env={"HEAPTIDE": RUN})
    forms = {Path(report["exe"]).name: report for _, report in reports_below(tmp_path)}
    wanted = {"df_d4", "df_d5", "df_zlib", "df_dwo", "df_nopie", "df_lto", "df_noeh", "df_sep", "df_strip"}
    assert wanted <= set(forms) <= wanted | {"df_clang"}
    for name, report in forms.items():
        assert report["summary"]["leaked_direct_bytes"] == 3000, name
        (row,) = report["leaks"]
        functions = [frame["function"] for frame in row["stack"]]
        if name == "df_strip":
            assert not [one for one in functions if one and not one.startswith("[")][:1] or "lose" not in str(functions)
            assert Path(row["site"]["module"]).name == name and row["site"]["line"] is None
            continue
        assert "lose_here" in functions, (name, functions)
        lines = {
            frame["function"]: (Path(frame["file"]).name, frame["line"]) for frame in row["stack"] if frame["file"]
        }
        assert lines["inner"] == ("df.c", 2) and lines["lose_here"] == ("df.c", 3), (name, lines)


def test_60_debug_file_of_another_build_is_refused(tmp_path, out):
    """The debug link names a file that belongs to another program: its names and lines must not be used."""
    (tmp_path / "one.c").write_text(
        "#include <stdlib.h>\nvoid lose_here(void) { *(volatile char *)malloc(3000) = 1; }\n"
        "int main(void) { lose_here(); return 0; }\n"
    )
    (tmp_path / "two.c").write_text(
        "#include <stdlib.h>\n\n\n\nint wrong_name(void) { return 1; }\n"
        "void wrong_lose(void) { *(volatile char *)malloc(3000) = 1; }\nint main(void) { wrong_lose(); return 0; }\n"
    )
    script = (
        "gcc -g one.c -o one && gcc -g two.c -o two && objcopy --only-keep-debug one one.debug && strip one &&"
        " objcopy --add-gnu-debuglink=one.debug one && objcopy --only-keep-debug two one.debug"
    )
    subprocess.run(script, shell=True, cwd=tmp_path, check=True)
    report = heaptide_run.traced([tmp_path / "one"], out=out, options=["-q"]).report()
    (row,) = report["leaks"]
    assert row["direct_bytes"] == 3000
    functions = {frame["function"] for frame in row["stack"]}
    assert not functions & {"wrong_lose", "wrong_name", "main"}, functions
    assert row["site"]["line"] is None


def test_62_63_awkward_paths_and_arguments(tmp_path):
    bare_place, traced_place = tmp_path / "bare", tmp_path / "traced"
    bare_place.mkdir()
    traced_place.mkdir()
    bare = execute(["bash", CASES / "names.sh"], cwd=bare_place, env={"HEAPTIDE": None})
    run = execute(["bash", CASES / "names.sh"], cwd=traced_place, env={"HEAPTIDE": RUN})
    assert run.stdout == bare.stdout and run.stdout.count(b"ok\n") == 8, run.describe()
    found = reports_below(traced_place)
    assert len(found) == 8
    for place, report in found:
        text = heaptide_run.command("report", place).stdout.decode()
        (row,) = report["leaks"]
        functions = [frame["function"] for frame in row["stack"]]
        assert "lose_here" in functions and "main" in functions, (place, functions)
        assert row["direct_bytes"] == 3000 and "lose_here" in text
    arguments = [report["argv"] for _, report in found if len(report["argv"]) == 4]
    assert ["--json", "arg\nline", "<script>alert(1)</script>"] in [words[1:] for words in arguments], arguments


def test_62_started_through_the_loader(planted, out):
    program = planted("two_leaks.c")
    report = beside(["/lib64/ld-linux-x86-64.so.2", program], out=out).report()
    assert {row["site"]["function"] for row in report["leaks"]} == {"lose_alpha", "lose_beta", "lose_gamma"}
    assert Path(report["leaks"][0]["site"]["module"]).name == "two_leaks"


def test_66_names_are_not_worked_out_inside_the_program(tmp_path, out):
    """A program with 10,000 functions and their debug information: the process stays as small as with none."""
    functions = "".join(f"int f{i}(int a) {{ struct s{i} {{ int b, c; }} d = {{a, {i}}}; return d.b + d.c; }}\n"
                        for i in range(10000))  # fmt: skip
    source = tmp_path / "large.c"
    source.write_text(
        functions + "#include <stdlib.h>\nvoid lose(void) { *(volatile char *)malloc(10) = 1; }\n"
        "int main(void) { lose(); return 0; }\n"
    )
    sizes = []
    for flags in (["-g"], ["-s"]):
        program = tmp_path / f"large{flags[0]}"
        subprocess.run(["gcc", *flags, source, "-o", program], check=True)
        place = tmp_path / f"report{flags[0]}"
        sizes.append(heaptide_run.traced([program], out=place, options=["-q"]).report()["summary"]["peak_rss_bytes"])
    assert abs(sizes[0] - sizes[1]) < 1 << 20, sizes


def test_names_of_a_moved_program(planted, tmp_path, out):
    """Reports name what lies at the recorded path; a program that was moved away keeps module and offset."""
    copy = tmp_path / "moved"
    shutil.copy(planted("direct_one.c"), copy)
    run = heaptide_run.traced([copy], out=out, options=["-q"])
    (named,) = run.report()["leaks"]
    copy.rename(tmp_path / "elsewhere")
    (unnamed,) = run.report()["leaks"]
    assert named["direct_bytes"] == unnamed["direct_bytes"] == 40
    assert [frame["offset"] for frame in named["stack"]] == [frame["offset"] for frame in unnamed["stack"]]


def test_folded_names_need_no_escaping(case, out):
    """Folded output keeps one line a stack whatever the names hold."""
    beside([case("tls_dtor.cc", flags=("-pthread",))], out=out)
    lines = heaptide_run.command("report", out, "--folded", "allocated").stdout.decode().splitlines()
    assert lines and all(re.fullmatch(r".+ \d+", line) for line in lines)
    assert leaked(read_reports(out)[-1]) == {}
