"""The house rules that a program can check: layout, floors, owners, headers, scripts."""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "validation", "mutants"))
import mutants

# docs/architecture.md, lowest first: a file may include what stands on its own floor or below.
FLOORS = ["base", "machine", "config", "model", "external", "space", "force", "integrator",
          "backend", "simulation", "diagnostics", "output", "formats", "initial", "accuracy",
          "observation", "estimate", "run", "report", "study", "bench", "commands"]

# A method of the force has a folder on that floor. gpu/ is the cuda backend, whose kernels do not
# know its host files; files of a folder of gpu/ name each other without it.
FOLDERS = {**{f"src/{floor}": k for k, floor in enumerate(FLOORS)},
           **{f"src/force/{os.path.basename(folder[:-1])}": FLOORS.index("force")
              for folder in glob.glob(os.path.join(tap.SOURCE, "src", "force", "*", ""))},
           "gpu/kernels": FLOORS.index("backend") - 0.5,
           "gpu/kernels/ptx": FLOORS.index("backend") - 0.5,
           **{folder: FLOORS.index("backend") for folder in ("gpu/host", "gpu/bench")}}

# The only places that may see these.
OWNERS = {
    "libconfig.h": r"src/config/",
    "cuda_runtime.h": r"(validation/)?gpu/",
    "cuda_runtime_api.h": r"(validation/)?gpu/",
    "mpi.h": r"src/backend/mpi-job\.[ch]$",
    "hdf5.h": r"src/formats/[\w-]*hdf5[\w-]*\.[ch]$",
}

# Headers that configure and make write.
GENERATED = ("config.h", "build-commit.h", "report-templates.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def sources(root, *suffixes, folders=("src", "gpu", "validation")):
    """Paths below root, relative to it, sorted."""
    found = []
    for folder in folders:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            found += [os.path.relpath(os.path.join(directory, name), root)
                      for name in names if name.endswith(suffixes)]
    return sorted(found)


def changed(paths):
    """Those that ./dev names, or all of them."""
    names = os.environ.get("ORRERY_CHANGED")
    return paths if names is None else [path for path in paths if path in names.split()]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def floor_violations(root):
    """Includes that look upstairs, as lines of text."""
    found = []
    for path in sources(root, ".c", ".h", ".inc", ".cu", ".cuh", folders=("src", "gpu")):
        if path == "src/main.c":  # the roof
            continue
        folder = os.path.dirname(path)
        if folder not in FOLDERS:
            found.append(f"{path}: {folder} is not a floor")
            continue
        for quote, name in INCLUDE.findall(read(root, path)):
            inside = os.path.dirname(name)
            floor = FOLDERS.get(inside, FOLDERS.get(f"src/{inside}", -1))
            nowhere = "/" not in name and name not in GENERATED and not folder.startswith("gpu/")
            if quote == '"' and (floor > FOLDERS[folder] or nowhere):
                found.append(f'{path}: must not include "{name}"')
    return found


def module_graph(root):
    """What each module, a header with the source of its name, includes of its own floor."""
    suffixes = (".c", ".h", ".cu", ".cuh", ".inc")
    paths = sources(root, *suffixes, folders=("src", "gpu"))
    modules = {os.path.splitext(path)[0] for path in paths}
    graph = {module: set() for module in modules}
    for path in paths:
        module, folder = os.path.splitext(path)[0], os.path.dirname(path)
        for quote, name in INCLUDE.findall(read(root, path)):
            for start in ("src", ".", folder):
                other = os.path.splitext(os.path.normpath(os.path.join(start, name)))[0]
                if quote == '"' and other in modules and os.path.dirname(other) == folder:
                    graph[module].add(other)
    return graph


def include_circles(root):
    """Modules of one floor that include each other, also by way of others, as lines of text."""
    graph = module_graph(root)

    def reached(start):
        found, waiting = set(), [start]
        while waiting:
            new = graph[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    below = {module: reached(module) - {module} for module in graph}
    circles = {frozenset({module} | {other for other in below[module] if module in below[other]})
               for module in graph}
    return [" and ".join(sorted(circle)) + ": include each other"
            for circle in sorted(circles, key=sorted) if len(circle) > 1]


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
    plant("src/force/direct/sums.inc", '#include "gpu/host/part.h"\n#include "run/run.h"\n')
    plant("src/bench/fine.c", '#include "gpu/host/steps.h"\n')
    plant("gpu/host/steps.c", '#include "part.h"\n#include "gpu/kernels/sum.cuh"\n')
    plant("gpu/kernels/steps.cu", '#include "sum.cuh"\n#include "force/method.h"\n'
                                  '#include "run/run.h"\n#include "gpu/host/steps.h"\n')
    assert floor_violations(".") == ['gpu/kernels/steps.cu: must not include "run/run.h"',
                                     'gpu/kernels/steps.cu: must not include "gpu/host/steps.h"',
                                     "src/attic/box.c: src/attic is not a floor",
                                     'src/base/low.c: must not include "run/run.h"',
                                     'src/force/direct/sums.inc: '
                                     'must not include "gpu/host/part.h"',
                                     'src/force/direct/sums.inc: must not include "run/run.h"']


def test_no_include_circles():
    """no files of a floor include each other, a source counted with its header"""
    assert len(module_graph(tap.SOURCE)) > 100
    expect_none(include_circles(tap.SOURCE))


def test_circles_test_sees_a_circle():
    """planted circles are found: of two headers with their sources, and of three kernels"""
    plant("src/run/low.h", '#include "base/low.h"\n')
    plant("src/run/low.c", '#include "run/low.h"\n#include "run/high.h"\n')
    plant("src/run/high.h", '#include "run/low.h"\n#include <run/none.h>\n')
    plant("src/run/user.c", '#include "run/high.h"\n#include "run/low.h"\n')
    plant("src/base/low.h", '#include "run/low.h"\n')  # another floor: the floors' own test
    plant("gpu/host/one.cu", '#include "two.cuh"\n')
    plant("gpu/host/two.cuh", '#include "gpu/host/three.h"\n')
    plant("gpu/host/three.c", '#include "gpu/host/one.cuh"\n')
    plant("gpu/host/three.h", "")
    plant("gpu/host/one.cuh", "")
    assert include_circles(".") == [
        "gpu/host/one and gpu/host/three and gpu/host/two: include each other",
        "src/run/high and src/run/low: include each other"], include_circles(".")


def test_owners():
    """libconfig.h, cuda_runtime.h, mpi.h and hdf5.h are seen by their owners only"""
    expect_none(owner_violations(tap.SOURCE))


def test_owners_test_sees_a_violation():
    """a planted guest is found"""
    plant("src/run/run.c", "#  include <libconfig.h>\n")
    plant("src/config/read.c", "#include <libconfig.h>\n")
    assert owner_violations(".") == ["src/run/run.c: libconfig.h belongs to src/config/"]


# The square of a number of bodies: work, which force_work() knows, or pairs (reference_pairs()).
SQUARE = re.compile(r"\b((?:\w+(?:->|\.))*\w*count)\)* \* \(*(?:double\)\s*)?\(*\1\b")


def squares_of_counts(root):
    """Squares of counts outside of direct summation, as lines of text."""
    found = []
    for path in sources(root, ".c", ".h", ".inc", folders=("src", "gpu")):
        if os.path.dirname(path) != "src/force/direct":
            text = COMMENT.sub("", read(root, path))
            found += [f"{path}: {match[0]}" for match in SQUARE.finditer(text)]
    return found


def test_work_is_asked_for():
    """no square of a number of bodies stands outside of src/force/direct"""
    expect_none(squares_of_counts(tap.SOURCE))


def test_work_test_sees_a_square():
    """squares are found, cast and of members too, but not products of two counts"""
    plant("src/run/a.c", "a = count * count; b = (double)b->count * (double)b->count;\n"
                         "c = systems * (double)row.count * (double)(row.count);\n"
                         "d = key_count * member_count; /* count * count */ e = a.count * b.count;")
    plant("src/force/direct/a.h", "a = count * count;\n")
    assert squares_of_counts(".") == [
        "src/run/a.c: count * count", "src/run/a.c: b->count * (double)b->count",
        "src/run/a.c: row.count * (double)(row.count"], squares_of_counts(".")


# A call of a create() that a class has: of forces, of integrators and of backends.
CREATES = re.compile(r"(?:->|\.)create\(")


def creators_of_backends(root):
    """Files beyond the floor of the backends that call a create() of a class."""
    paths = sources(root, ".c", ".h", ".inc", folders=("src",))
    below = FLOORS[:FLOORS.index("backend") + 1]
    return [path for path in paths if path.split("/")[1] not in below
            and CREATES.search(COMMENT.sub("", read(root, path)))]


def test_backends_are_created_by_simulations():
    """one file creates the backends for all that moves bodies"""
    assert creators_of_backends(tap.SOURCE) == ["src/simulation/simulation.c"]


def test_creators_test_sees_another_one():
    """a planted creator is found, but none of the floors below and none in a comment"""
    plant("src/run/a.c", "status = backend_find(name)->create(&options, error);\n")
    plant("src/bench/b.c", "/* x->create( */ bodies_create(1, 2, &bodies, error);\n")
    plant("src/backend/c.c", "backend_openmp.create(options, physics);\n")
    assert creators_of_backends(".") == ["src/run/a.c"], creators_of_backends(".")


# A look-up in a JSON document by a key that the source spells out. run.json is read through the
# table of src/output/run-fields.inc; the readers of other documents are listed here.
LOOK_UP = re.compile(r'\b(?:json_object_(?:get|del)|document_(?:find|string|real)|json_unpack)\('
                     r'(?=(?:[^()"]|\([^()]*\))*"([^"]+)")')
READERS = {
    "src/output/manifest.c": {"program", "name", "format", "files",  # what all manifests have
                              "sha256"},  # of report.json
    "src/report/report.c": {"sha256", "time_end"},  # of report.json, of study.json
    "src/study/folder.c": {"keys", "members", "files", "time_end"},  # of study.json
    "src/study/existing.c": {"keys", "members"},
    "src/commands/status-report.c": {"members", "time_end"},
    "src/run/change.c": {"time", "end", "step"},  # of the config with which a run began
    "src/bench/results.c": {"rates", "rows", "skipped", "bodies"},  # of the command's own
    "src/commands/command-bench-gpu.c": {"rows", "cpu", "part", "label", "precision", "limit",
                                         "rate", "count"},
    "gpu/host/tuning.c": {"kernel", "precision"},  # of the file of tuning
}


def look_ups(root):
    """Look-ups by a string, each a path and the key."""
    found = []
    for path in sources(root, ".c", ".h", ".inc", folders=("src", "gpu")):
        found += [(path, match[1]) for match in LOOK_UP.finditer(read(root, path))]
    return found


def test_look_ups_go_through_the_table():
    """no file looks into run.json by a string: each names a row of the table of its fields"""
    known = {(path, key) for path, keys in READERS.items() for key in keys}
    found = set(look_ups(tap.SOURCE))
    assert found == known, (found - known, known - found)


def test_look_ups_test_sees_a_string():
    """planted look-ups are found, over two lines and in a call too, but none by a field"""
    plant("src/run/a.c", 'a = json_object_get(f(run)->before,\n        "exit_status");\n'
                         'b = run_field(before, FIELD_STEP); x = json_object_get(x, y);\n'
                         'c = document_real(row, key), d = json_pack("{s:s}", "name", name);\n')
    plant("src/study/b.c", 'a = json_object_get(json_object_get(b, "keys"), "step");\n')
    assert look_ups(".") == [("src/run/a.c", "exit_status"), ("src/study/b.c", "step"),
                             ("src/study/b.c", "keys")], look_ups(".")


# What stands at the top of the tree. The results of a run that was begun there do not.
TOP = {".ci", ".clang-format", ".clang-tidy", ".dockerignore", ".editorconfig", ".gitignore",
       "CITATION.cff", "CONTRIBUTING.md", "Containerfile", "LICENSE", "Makefile.am", "NEWS",
       "README.md", "bootstrap", "completions", "config", "configure.ac", "debian", "dev", "docs",
       "examples", "gpu", "python", "quickstart", "src", "validation"}


def strangers(root):
    """Names at the top of the tree that git keeps and that do not belong there."""
    if not shutil.which("git"):
        raise tap.Skip("git is not installed")
    found = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if found.returncode != 0:
        raise tap.Skip("this is no clone")
    return sorted({path.split("/")[0] for path in found.stdout.split("\0") if path} - TOP)


def test_the_top_of_the_tree():
    """the top of the tree has its files and folders, and no others"""
    if not os.path.exists(os.path.join(tap.SOURCE, ".git")):
        raise tap.Skip("this is no clone")
    expect_none(strangers(tap.SOURCE))


def test_the_top_of_the_tree_sees_a_stranger():
    """a planted result is found"""
    if not shutil.which("git"):
        raise tap.Skip("git is not installed")
    plant("bars/run.json", "{}\n")
    plant("src/main.c", "\n")
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", "."], check=True)
    assert strangers(".") == ["bars"]


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


# Headers of libraries and of configure, which a header of ours must not be taken for.
TAKEN = ("config.h", "mpi.h")


def misnamed_files(root):
    """Names that are spelled in two ways, stand twice, or are a library's, as lines of text."""
    found, names = [], {}
    for path in sources(root, ".c", ".h", ".inc", ".cu", ".cuh", folders=("src", "gpu")):
        name = os.path.basename(path)
        if "_" in name:
            found.append(f"{path}: words of a name are joined by hyphens")
        if name in TAKEN:
            found.append(f"{path}: a library's header has this name")
        if name in names:
            found.append(f"{path}: the name of {names[name]}, too")
        names[name] = path
    return found


def test_names():
    """names of sources: hyphens, none twice, none that a library has"""
    expect_none(misnamed_files(tap.SOURCE))


def test_names_test_sees_a_violation():
    """a name with an underscore, one that is a library's and one that is there twice are found"""
    for path in ("src/base/one_two.c", "src/base/mpi.h", "src/run/pair.c", "gpu/host/pair.c",
                 "gpu/kernels/pair.cuh"):
        plant(path, "")
    assert misnamed_files(".") == ["src/base/mpi.h: a library's header has this name",
                                   "src/base/one_two.c: words of a name are joined by hyphens",
                                   "src/run/pair.c: the name of gpu/host/pair.c, too"]


COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
DECLARED = re.compile(r"^(?!typedef|static)(?:[a-z]\w*[ *]+)+(?:const )?(\w+)\([^{}]*?;",
                      re.MULTILINE)


def lonely_functions(root):
    """Functions that a header offers and no file but that which defines them uses."""
    texts = {path: COMMENT.sub("", read(root, path))
             for path in sources(root, ".c", ".h", ".inc", ".cu", ".cuh", ".cpp")}
    files = {}
    for path, text in texts.items():
        for word in set(re.findall(r"\w+", text)):
            files.setdefault(word, set()).add(path)
    return [f"{path}: {name}() is used by no other file" for path, text in texts.items()
            if path.endswith(".h") and not path.startswith("validation")
            for name in DECLARED.findall(text)
            if len(files[name] - {path}) < 2]


def test_functions_have_users():
    """what a header offers is used outside of the file that defines it; else it is static there"""
    expect_none(lonely_functions(tap.SOURCE))


def test_clones_have_names_of_their_own():
    """functions that are compiled for each instruction set: clang 14 links them by their names"""
    clone = re.compile(r"^CLONE_FOR_VECTORS\n[^(]*?(\w+)\(", re.M)
    names = [name for path in sources(tap.SOURCE, ".c", ".inc")
             for name in clone.findall(read(tap.SOURCE, path))]
    assert len(names) > 9
    expect_none(sorted({name for name in names if names.count(name) > 1}))


def test_functions_test_sees_a_violation():
    """a function that nobody calls is found, and one that only its own file calls"""
    plant("src/base/a.h", "/* c() */\nint a(void);\nconst char *b(int x,\n              int y);\n"
                          "void c(void);\n")
    plant("src/base/a.c", "int a(void)\n{\n    c();\n}\nconst char *b(int x, int y)\n{\n}\n"
                          "void c(void)\n{\n}\n")
    plant("src/base/d.c", "/* c() and b() */\nstatic int d = a(); const char text[] = \"c b\";\n")
    assert lonely_functions(".") == ["src/base/a.h: b() is used by no other file",
                                     "src/base/a.h: c() is used by no other file"]


def read_by_cpp(root):
    """The headers that the C++ of the kernels and of their stand-in reads, directly or not."""
    folders = ("src", "gpu/kernels", "validation/gpu/executor")
    left, found = sources(root, ".cu", ".cuh", ".cpp"), set()
    while left:
        path = left.pop()
        for _, name in INCLUDE.findall(read(root, path)):
            for folder in (os.path.dirname(path), *folders):
                header = os.path.join(folder, name)
                if header not in found and os.path.exists(os.path.join(root, header)):
                    found.add(header)
                    left.append(header)
    return sorted(path for path in found if path.endswith(".h"))


def needless_linkage(root):
    """Headers that say how C++ links them though no C++ reads them."""
    readers = read_by_cpp(root)
    return [f"{path}: no C++ reads it" for path in sources(root, ".h")
            if "__cplusplus" in read(root, path) and path not in readers]


def test_linkage():
    """extern "C" stands only in headers that C++ reads"""
    assert "src/model/bodies.h" in read_by_cpp(tap.SOURCE)
    expect_none(needless_linkage(tap.SOURCE))


def test_linkage_test_sees_a_violation():
    """a header that speaks to C++ without being read by it is found"""
    speaks = '#ifdef __cplusplus\nextern "C" {\n#endif\n'
    plant("gpu/kernels/a.cu", '#include "b.h"\n')
    plant("gpu/kernels/b.h", f'#include "base/c.h"\n{speaks}')
    plant("src/base/c.h", speaks)
    plant("src/base/d.h", speaks)
    assert needless_linkage(".") == ["src/base/d.h: no C++ reads it"]


def test_headers_compile():
    """headers compile as C11, and as C++ those that C++ reads: each alone where ORRERY_THOROUGH is
    set, else those alone that have no source, and all together"""
    flags = ["-fsyntax-only", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
             "-Isrc", *library_flags()]
    languages = [([*shlex.split(os.environ.get("CC", "cc")), "-xc", "-std=gnu11"],
                  sources(tap.SOURCE, ".h", folders=("src",)))]
    if shutil.which("c++"):
        languages.append((["c++", "-xc++", "-std=gnu++17"],
                          [path for path in read_by_cpp(tap.SOURCE) if path.startswith("src/")]))
    assert len(languages[0][1]) > 100
    items = []
    for compiler, headers in languages:
        alone = [header for header in changed(headers) if tap.is_thorough() or
                 not os.path.exists(os.path.join(tap.SOURCE, header[:-2] + ".c"))]
        assert len(alone) > 3 or "ORRERY_CHANGED" in os.environ
        texts = [f'#include "{header}"\n' for header in alone]
        texts.append("".join(f'#include "{header}"\n' for header in headers))
        items += [(shlex.join([*compiler, *flags, "-"]), text) for text in texts]
    expect_none(every(lambda item: ["sh", "-c", f'cd "$1"; printf %s "$2" | {item[0]}', "sh",
                                    tap.SOURCE, item[1]], items))


def test_layout():
    """clang-format 14 leaves every source as it is"""
    program = next((p for p in ("clang-format-14", "clang-format") if shutil.which(p)), None)
    if not program:
        raise tap.Skip("clang-format is not installed")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if " 14." not in version:  # other versions lay out differently
        raise tap.Skip(f"clang-format 14 is wanted, this is {version.strip()}")
    paths = changed(sources(tap.SOURCE, ".c", ".h", ".cu", ".cuh"))
    if not paths:
        raise tap.Skip("no source has changed")
    result = subprocess.run([program, "--dry-run", "-Werror", *paths], cwd=tap.SOURCE,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_makefile_knows_every_file():
    """the makefile names every source, test, header, document and example"""
    makefile = read(tap.SOURCE, "Makefile.am") + read(tap.SOURCE, "lists.am")
    named = set(re.findall(r"[\w./-]+", makefile))
    folders = ("src", "gpu", "python", "validation", "config", "examples", "docs")
    paths = sources(tap.SOURCE, ".c", ".h", ".cu", ".cuh", ".py", ".cfg", ".md", ".1", ".5", ".svg",
                    ".png", ".gif", ".csv", ".toml", folders=folders)
    assert len(paths) > 20
    expect_none([f"{path}: not in Makefile.am and lists.am" for path in paths
                 if not {path, os.path.splitext(path)[0]} & named])


# A file of the tree, or a function, as the README of a folder names it.
NAMED_FILE = re.compile(r"`([\w/*-]+\.(?:c|h|inc|py|cu|cuh|cfg))`")
NAMED_FUNCTION = re.compile(r"`(\w+)\(\)`")


def readme_faults(root, folders):
    """Folders without a README or a link to it, and files and functions that these do not have."""
    pages = {folder: f"{folder}/README.md" for folder in folders}
    linked = read(root, "docs/architecture.md")
    for folder, page in pages.items():
        if not os.path.exists(os.path.join(root, page)):
            yield f"{folder}: no README.md"
            continue
        text = read(root, page)
        if text.count("\n") > 20:
            yield f"{page}: more than 20 lines"
        if folder.count("/") == 1 and f"](../{page})" not in linked:
            yield f"{page}: docs/architecture.md has no link to it"
        tests = [f"validation/{kind}" for kind in ("unit", "cli")]
        for name in NAMED_FILE.findall(text):
            if not any(glob.glob(os.path.join(root, place, name.replace("NAME", "*")))
                       for place in [folder, f"{folder}/*", "src", ".", *tests]):
                yield f"{page}: there is no {name}"
        code = "".join(read(root, path) for path in sources(root, ".c", ".h", folders=(folder,)))
        for name in NAMED_FUNCTION.findall(text):
            if not re.search(rf"\b{name}\(", code) and name != "command_NAME":
                yield f"{page}: {folder} has no {name}()"


def test_readmes_of_folders():
    """every folder of src has a short README, which docs/architecture.md links and which names
    files and functions that exist"""
    folders = [folder for folder in FOLDERS
               if folder.startswith("src/") and folder != "src/force/direct"]
    expect_none(list(readme_faults(tap.SOURCE, folders)))


def test_readmes_test_sees_a_fault():
    """the test of the READMEs finds one that is missing, not linked, long, or out of date"""
    plant("docs/architecture.md", "[src/base/](../src/base/README.md)")
    plant("src/base/README.md", "`text.h`, `text_print()` and `base/text.h`\n")
    plant("src/base/text.h", "void text_print(void);\n")
    assert not list(readme_faults(".", ["src/base"]))
    plant("src/base/README.md", "`line.h`, `text_write()`\n" + 20 * "\n")
    plant("src/model/README.md", "\n")
    assert list(readme_faults(".", ["src/base", "src/model", "src/run"])) == [
        "src/base/README.md: more than 20 lines", "src/base/README.md: there is no line.h",
        "src/base/README.md: src/base has no text_write()",
        "src/model/README.md: docs/architecture.md has no link to it", "src/run: no README.md"]


def test_no_leftovers():
    """nothing that an editor or a merge leaves behind lies among the files"""
    endings = (".orig", ".rej", ".bak", ".swp", "~")
    folders = ("src", "gpu", "python", "validation", "config", "examples", "docs")
    expect_none(sources(tap.SOURCE, *endings, folders=folders))
    plant("src/base/text.c.orig", "")
    assert sources(".", *endings, folders=folders) == ["src/base/text.c.orig"]


def test_rows_of_faults():
    """the texts of planted faults stand once in their files, and their tests exist"""
    assert len(mutants.rows(tap.SOURCE)) > 800
    expect_none(list(mutants.rotten(tap.SOURCE)))


def test_rows_of_faults_test_sees_a_violation():
    """a text that is gone, a missing file, a missing test, a row in another list are found"""
    plant("src/base/a.c", "x = 1;\ny = 1;\n")
    plant("validation/unit/a.c", "")
    plant("validation/mutants/rows/base.py",
          "ROWS = [('src/base/a.c', 'x = 1;', 'x = 2;', 'unit/a'),\n"
          "        ('src/base/a.c', ' = 1;', ' = 2;', 'unit/a'),\n"
          "        ('src/base/a.c', 'y', 'y', 'unit/a unit/b.py'),\n"
          "        ('src/base/b.c', 'x', '', 'unit/a')]\n")
    plant("validation/mutants/rows/run.py", "ROWS = [('src/base/a.c', 'x', 'z', 'unit/a')]\n")
    assert list(mutants.rotten(".")) == [
        "src/base/a.c: = 1; -> = 2;: the original text is there 2 times, not once",
        "src/base/a.c: y -> y: changes nothing",
        "src/base/a.c: y -> y: there is no test unit/b.py",
        "src/base/b.c: x -> nothing: No such file or directory",
        "src/base/a.c: x -> z: stands in run.py, not in base.py"], list(mutants.rotten("."))


def test_lines():
    """lines end within 100 columns, without blanks or tabs, and none is torn; files end with a
    newline"""
    found = []
    for path in sources(tap.SOURCE, ".c", ".h", ".inc", ".cu", ".cuh", ".py", ".sh",
                        folders=("src", "gpu", "python", "validation")):
        text = read(tap.SOURCE, path)
        if not text.endswith("\n"):
            found.append(f"{path}: no newline at the end")
        for number, line in enumerate(text.split("\n"), 1):
            # By clang-format, which took a struct for something else, or broke a heading.
            torn = line == ";" or re.match(r"/\* --- (?!.*\*/$)", line)
            if len(line) > 100 or line != line.rstrip() or "\t" in line or torn:
                found.append(f"{path}:{number}: {line}")
    expect_none(found)


WORDS = re.compile(r"/\*.*?\*/|//[^\n]*(?:\n\s*//[^\n]*)*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
FRAGMENT = re.compile(r"(Of|What|Where|So|Who)\b|.*\b[Ss]o many\b")


def fragments(root):
    """Comments that are no sentences by their first word, or that count without a number."""
    found = []
    for path in set(sources(root, ".c", ".h", ".inc", ".cu", ".cuh", ".cpp")):
        text = read(root, path)
        for match in WORDS.finditer(text):
            words = " ".join(re.sub(r"^\s*(/\*+|\*|//)", "", match[0], flags=re.MULTILINE).split())
            if not match[0].startswith('"') and FRAGMENT.match(words):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{path}:{line}: {words[:60]}")
    return sorted(found)


def test_comments_are_sentences():
    """no comment begins with Of, What, Where, So or Who, and none says "so many\""""
    expect_none(fragments(tap.SOURCE))


def test_comments_test_sees_a_fragment():
    """fragments are found in both kinds of comments, but not in strings or within sentences"""
    plant("src/base/a.c", '/* Of mass. */\nint a; // What it is\n'
                          'int b; /* Steps of\n * so many. */\n'
                          'char *c = "/* What */"; /* Returns what is left. */\n')
    assert fragments(".") == ["src/base/a.c:1: Of mass. */", "src/base/a.c:2: What it is",
                              "src/base/a.c:3: Steps of so many. */"], fragments(".")


def test_no_unfinished_work():
    """no marks of unfinished work"""
    mark = re.compile(r"\b(TO" "DO|FIX" r"ME|XX" r"X)\b")
    found = []
    for path in sources(tap.SOURCE, "", folders=("src", "gpu", "python", "validation", "config",
                                                 "examples", "docs")):
        if path.endswith((".c", ".h", ".cu", ".cuh", ".py", ".sh", ".cfg", ".md")):
            found += [f"{path}:{number}: {line}"
                      for number, line in enumerate(read(tap.SOURCE, path).split("\n"), 1)
                      if mark.search(line)]
    expect_none(found)


def test_shell_scripts():
    """shellcheck is content with the scripts"""
    if not shutil.which("shellcheck"):
        raise tap.Skip("shellcheck is not installed")
    scripts = [path for path in ("bootstrap", "dev", "quickstart", ".ci/run", "completions/orrery",
                                 *sources(tap.SOURCE, ".sh",
                                          folders=("examples", "validation")))
               if os.path.exists(os.path.join(tap.SOURCE, path))]
    assert scripts
    if not changed(scripts):
        raise tap.Skip("no script has changed")
    result = subprocess.run(["shellcheck", "-x", *changed(scripts)], cwd=tap.SOURCE,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


tap.main()
