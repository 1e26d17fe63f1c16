"""docs/tutorials/learn-gpu.md: its commands end as the page says and print what it shows, and its
counts are those of the machine code."""

import os
import pathlib
import re
import shutil
import subprocess

import tap

BUILD = os.environ.get("ORRERY_BUILD", os.getcwd())
PAGE = pathlib.Path(tap.SOURCE, "docs/tutorials/learn-gpu.md")
NOT_HERE = {r"\./bootstrap": "emulate.py configures and builds",
            r"make": "the programs are here, or are built by the test of races",
            r"nvcc|cuobjdump": "needs the CUDA toolkit; code.py counts the same loops"}


def text():
    return PAGE.read_text(encoding="utf-8")


def commands():
    """(command, the lines that are shown behind it)."""
    found = []
    for match in re.finditer(r"((?:^    \S.*\n)+)(?:\n```text\n((?:.*\n)*?)```)?", text(), re.M):
        lines = [line.strip() for line in match[1].splitlines()]
        found += [(line, []) for line in lines[:-1]]
        found.append((lines[-1], (match[2] or "").splitlines()))
    return found


def reason(command):
    return next((why for words, why in NOT_HERE.items() if re.match(words, command)), None)


def plain(words):
    """With single spaces, and the sources not named from where they were compiled."""
    return re.sub(r"(\.\./)+gpu/|/\S+/gpu/", "gpu/", " ".join(words.split()))


def follow(races):
    """Runs the commands, those of ThreadSanitizer or the others, on the executor's programs."""
    if not os.path.exists(os.path.join(BUILD, "validation/gpu/orrery")):
        raise tap.Skip("the executor was not built: it needs a C++17 compiler and cmocka")
    name, config = re.search(r"^```cfg (\S+)\n(.*?)^```$", text(), re.M | re.S).groups()
    pathlib.Path(name).write_text(config)
    os.symlink(os.path.join(BUILD, "validation/gpu/orrery"), "orrery")
    os.symlink(os.path.join(BUILD, "validation"), "validation")
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("ORRERY_EXECUTOR_GPU", "TSAN_OPTIONS")}
    environment["ASAN_OPTIONS"] = "detect_leaks=0"  # a test that fails frees nothing
    done = 0
    for command, shown in commands():
        if reason(command) or ("orrery-races" in command) != races:
            continue
        if "validation/gpu/kernels" in command and not tap.is_thorough():
            print(f"# not run: {command} (takes seconds)")
            continue
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True,
                                env=environment, timeout=300 * tap.PATIENCE)
        wanted = re.search(r"# exit status (\d+)$", command)
        said = plain(result.stdout + result.stderr)
        assert result.returncode == int(wanted[1] if wanted else 0), (command, result)
        missing = [line for line in shown if plain(line) not in said]
        assert not missing, (command, missing, said[-3000:])
        done += 1
    return done


def test_commands():
    """each command ends as the page says, and prints what the page shows"""
    assert follow(False) == (5 if tap.is_thorough() else 4)
    kinds = {words for words in NOT_HERE if any(re.match(words, line) for line, _ in commands())}
    assert kinds == set(NOT_HERE), kinds


def test_races():
    """ThreadSanitizer finds the barrier that the page takes out, and nothing without that"""
    tap.thorough()
    result = subprocess.run(["make", "-s", "validation/gpu/orrery-races"], cwd=BUILD,
                            capture_output=True, text=True)
    if result.returncode:
        raise tap.Skip("no kernels under ThreadSanitizer: " + result.stderr.strip()[-300:])
    assert follow(True) == 1
    result = subprocess.run(["validation/gpu/orrery-races", "run", "lesson.cfg", "--force", "-q"],
                            capture_output=True, text=True)
    assert result.returncode == 0 and "WARNING" not in result.stderr, result


def test_barriers():
    """the lines that the page names are barriers"""
    named = re.findall(r"ORRERY_EXECUTOR_DROP=([\w.]+):(\d+)", text())
    assert len(named) == 4, named
    for file, line in named:
        lines = pathlib.Path(tap.SOURCE, "gpu/kernels", file).read_text().splitlines()
        assert "__syncthreads()" in lines[int(line) - 1], (file, line)


def test_counts():
    """the page's counts are those that code.py compares with the machine code"""
    header = pathlib.Path(tap.SOURCE, "gpu/kernels/instructions.h").read_text()
    said = dict(re.findall(r"^#define GPU_INSTRUCTIONS_TEXTBOOK_(\w+) ([\d.]+)$", header, re.M))
    row = re.search(r"^\| instructions of a pair \| (.*) \|$", text(), re.M)[1].split(" | ")
    assert row == [said[f"TILE_{times}"] for times in (1, 2, 4, 8, 16)], (row, said)
    assert f"has {said['SIMT']} with the estimate and {said['ROOT']} with" in text(), said
    on_paper = [int(n) for n in re.findall(r"^\| [^|]+ \| (\d+) \|$", text(), re.M)]
    assert sum(on_paper) == 17 and "| **a pair** | **17** |" in text(), on_paper


def test_length():
    """the page is short: its words without code, drawings and tables"""
    prose = re.sub(r"^(?:```(?:.*\n)*?```|    .*|\|.*)$", "", text(), flags=re.M)
    assert len(text().split()) < 1450 and len(prose.split()) < 1200, len(prose.split())


tap.main()
