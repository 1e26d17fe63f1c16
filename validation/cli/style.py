"""The house rules that a program can check: layout, floors, owners, headers, scripts."""

import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import tap

# docs/architecture.md, lowest first: a file may include what stands on its own floor or below.
FLOORS = ["base", "config", "model", "force", "integrator", "backend", "initial", "diagnostics",
          "output", "run", "report", "study", "bench", "commands"]

# The only places that may see these.
OWNERS = {
    "libconfig.h": r"src/config/",
    "cuda_runtime.h": r"(validation/)?gpu/",
    "cuda_runtime_api.h": r"(validation/)?gpu/",
    "mpi.h": r"src/backend/mpi\.[ch]$",
    "hdf5.h": r"src/(output|initial)/\w*hdf5\w*\.[ch]$",
}

# Headers that configure and make write.
GENERATED = ("config.h", "build-commit.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def sources(root, *suffixes, folders=("src", "gpu", "validation")):
    """Paths below root, relative to it, sorted."""
    found = []
    for folder in folders:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            found += [os.path.relpath(os.path.join(directory, name), root)
                      for name in names if name.endswith(suffixes)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def floor_violations(root):
    """Includes that look upstairs, as lines of text."""
    found = []
    for path in sources(root, ".c", ".h", folders=("src",)):
        parts = path.split(os.sep)
        if len(parts) < 3:  # src/main.c is the roof
            continue
        if parts[1] not in FLOORS:
            found.append(f"{path}: {parts[1]} is not a floor")
            continue
        own = FLOORS.index(parts[1])
        for quote, name in INCLUDE.findall(read(root, path)):
            above = quote == '"' and name.split("/")[0] in FLOORS[own + 1:]
            nowhere = quote == '"' and name not in GENERATED and "/" not in name
            if above or nowhere:
                found.append(f'{path}: must not include "{name}"')
    return found


def owner_violations(root):
    found = []
    for path in sources(root, ".c", ".h", ".cu", ".cuh"):
        for _, name in INCLUDE.findall(read(root, path)):
            owner = OWNERS.get(name)
            if owner and not re.match(owner, path):
                found.append(f"{path}: {name} belongs to {owner}")
    return found


def expect_none(violations):
    assert not violations, "\n" + "\n".join(violations)


def every(command, items):
    """Runs command(item) for all items, two at a time; the output of those that failed."""
    def output(item):
        result = subprocess.run(command(item), capture_output=True, text=True)
        return f"{item}:\n{result.stdout}{result.stderr}" if result.returncode else None
    with ThreadPoolExecutor(2) as pool:
        return [text for text in pool.map(output, items) if text]


def library_flags():
    modules = ["libconfig", "gsl", "jansson", "libxxhash", "zlib", "cmocka"]
    result = subprocess.run(["pkg-config", "--cflags", *modules], capture_output=True, text=True)
    return result.stdout.split()


def plant(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def test_floors():
    """files include only what stands on their own floor or below"""
    assert len(sources(tap.SOURCE, ".h", folders=("src",))) > 10
    expect_none(floor_violations(tap.SOURCE))


def test_floors_test_sees_a_violation():
    """a planted look upstairs is found"""
    plant("src/base/low.c", '#include "base/low.h"\n#include "run/run.h"\n')
    plant("src/run/high.c", '#include "base/low.h"\n#include <stdio.h>\n')
    plant("src/attic/box.c", "")
    assert floor_violations(".") == ["src/attic/box.c: attic is not a floor",
                                     'src/base/low.c: must not include "run/run.h"']


def test_owners():
    """libconfig.h, cuda_runtime.h, mpi.h and hdf5.h are seen by their owners only"""
    expect_none(owner_violations(tap.SOURCE))


def test_owners_test_sees_a_violation():
    """a planted guest is found"""
    plant("src/run/run.c", "#  include <libconfig.h>\n")
    plant("src/config/read.c", "#include <libconfig.h>\n")
    assert owner_violations(".") == ["src/run/run.c: libconfig.h belongs to src/config/"]


# A product of counts in the size of an allocation, which may overflow: products of constants alone
# and those that calloc(), memory_array() and memory_bytes() make themselves are checked.
ALLOCATION = re.compile(r"\b(malloc|realloc|calloc|memory_array)\(((?:[^;()]|\([^;()]*\))*)")
CONSTANT = r"(?:[A-Z_0-9]+|sizeof\b.*|\(size_t\).*)"


def unchecked_products(root):
    """Sizes of allocations that nobody checks for overflow, as lines of text."""
    found = []
    for path in sources(root, ".c", folders=("src", "gpu")):
        for function, arguments in ALLOCATION.findall(read(root, path)):
            arguments = re.sub(r"memory_bytes\([^()]*\)", "BYTES", arguments)
            last = -1 if function in ("malloc", "realloc") else 0
            size = arguments.split(",")[last]
            factors = [factor.strip() for factor in re.split(r"(?<!sizeof) \* ?", size)]
            if len(factors) > 1 and sum(not re.fullmatch(CONSTANT, f) for f in factors) > 0:
                found.append(f"{path}: {function}({' '.join(arguments.split())})")
    return found


def test_allocations():
    """no size of an allocation is a product that nobody checks for overflow"""
    expect_none(unchecked_products(tap.SOURCE))


def test_allocations_test_sees_a_violation():
    """the test of allocations sees products of one count and of two"""
    plant("src/base/bad.c",
          "void bad(void)\n{\n    a = malloc(count * sizeof *a);\n"
          "    b = calloc(rows * columns + 1, sizeof *b);\n"
          "    c = memory_array(rows * columns, sizeof *c, error);\n"
          "    d = malloc(memory_bytes(rows, sizeof *d));\n"
          "    e = calloc(rows, 2 * sizeof *e);\n}\n")
    assert len(unchecked_products(".")) == 3, unchecked_products(".")


def misplaced_headers(root):
    """Sources that do not include their own header before all others but config.h."""
    found = []
    for path in sources(root, ".c", folders=("src", "gpu")):
        header = os.path.splitext(path)[0] + ".h"
        if os.path.exists(os.path.join(root, header)):
            names = [name for _, name in INCLUDE.findall(read(root, path)) if name != "config.h"]
            if not header.endswith("/" + names[0]) and header != names[0]:
                found.append(f"{path}: {names[0]} before its own header")
    return found


def test_own_headers_come_first():
    """every source includes its own header first, so that the build compiles that alone"""
    expect_none(misplaced_headers(tap.SOURCE))


def test_own_headers_test_sees_a_violation():
    """a header that others come before is found"""
    plant("src/base/late.c", '#include "config.h"\n#include <math.h>\n#include "base/late.h"\n')
    plant("src/base/late.h", "")
    plant("src/base/first.c", '#include "config.h"\n#include "base/first.h"\n#include <math.h>\n')
    plant("src/base/first.h", "")
    assert misplaced_headers(".") == ["src/base/late.c: math.h before its own header"]


def compilers():
    """The commands that compile C11 and, where there is such a compiler, C++."""
    flags = ["-fsyntax-only", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
             "-Isrc", *library_flags()]
    commands = [[*shlex.split(os.environ.get("CC", "cc")), "-xc", "-std=gnu11", *flags, "-"]]
    if shutil.which("c++"):
        commands.append(["c++", "-xc++", "-std=gnu++17", *flags, "-"])
    return commands


def test_headers_compile():
    """headers compile as C11 and as C++: each alone where ORRERY_THOROUGH is set, else those alone
    that have no source, and all together"""
    headers = sources(tap.SOURCE, ".h", folders=("src",))
    alone = [header for header in headers if os.environ.get("ORRERY_THOROUGH") or
             not os.path.exists(os.path.join(tap.SOURCE, header[:-2] + ".c"))]
    assert len(headers) > 100 and len(alone) > 3
    texts = [f'#include "{header}"\n' for header in alone]
    texts.append("".join(f'#include "{header}"\n' for header in headers))
    expect_none(every(lambda item: ["sh", "-c", f'cd "$1"; printf %s "$2" | {shlex.join(item[0])}',
                                    "sh", tap.SOURCE, item[1]],
                      [(command, text) for text in texts for command in compilers()]))


def test_layout():
    """clang-format 14 leaves every source as it is"""
    program = next((p for p in ("clang-format-14", "clang-format") if shutil.which(p)), None)
    if not program:
        raise tap.Skip("clang-format is not installed")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if " 14." not in version:  # other versions lay out differently
        raise tap.Skip(f"clang-format 14 is wanted, this is {version.strip()}")
    paths = sources(tap.SOURCE, ".c", ".h", ".cu", ".cuh")
    result = subprocess.run([program, "--dry-run", "-Werror", *paths], cwd=tap.SOURCE,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_makefile_knows_every_file():
    """Makefile.am names every source, test, header, document and example"""
    makefile = read(tap.SOURCE, "Makefile.am")
    named = set(re.findall(r"[\w./-]+", makefile))
    folders = ("src", "gpu", "validation", "config", "examples", "docs")
    paths = sources(tap.SOURCE, ".c", ".h", ".cu", ".cuh", ".py", ".cfg", ".md", ".1", ".5", ".svg",
                    ".png", ".gif", ".csv", folders=folders)
    assert len(paths) > 20
    expect_none([f"{path}: not in Makefile.am" for path in paths
                 if not {path, os.path.splitext(path)[0]} & named])


def test_lines():
    """lines end within 100 columns, without blanks or tabs; files end with a newline"""
    found = []
    for path in sources(tap.SOURCE, ".c", ".h", ".cu", ".cuh", ".py", ".sh"):
        text = read(tap.SOURCE, path)
        if not text.endswith("\n"):
            found.append(f"{path}: no newline at the end")
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > 100 or line != line.rstrip() or "\t" in line:
                found.append(f"{path}:{number}: {line}")
    expect_none(found)


def test_no_unfinished_work():
    """no marks of unfinished work"""
    mark = re.compile(r"\b(TO" "DO|FIX" r"ME|XX" r"X)\b")
    found = []
    for path in sources(tap.SOURCE, "", folders=("src", "gpu", "validation", "config", "examples",
                                                 "docs")):
        if path.endswith((".c", ".h", ".cu", ".cuh", ".py", ".sh", ".cfg", ".md")):
            found += [f"{path}:{number}: {line}"
                      for number, line in enumerate(read(tap.SOURCE, path).split("\n"), 1)
                      if mark.search(line)]
    expect_none(found)


def test_shell_scripts():
    """shellcheck is content with the scripts"""
    if not shutil.which("shellcheck"):
        raise tap.Skip("shellcheck is not installed")
    scripts = [path for path in ("bootstrap", "quickstart", ".ci/run", "completions/orrery",
                                 *sources(tap.SOURCE, ".sh",
                                          folders=("examples", "validation")))
               if os.path.exists(os.path.join(tap.SOURCE, path))]
    result = subprocess.run(["shellcheck", "-x", *scripts], cwd=tap.SOURCE, capture_output=True,
                            text=True)
    assert scripts and result.returncode == 0, result.stdout


tap.main()
