"""The commands of the documents: each is run as it stands, or it is said why it is not."""

import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import tap

# The first words of what is a command, rather than a config file or a program.
ASSIGNMENT = r"(?:[A-Z_]+=\S+ )*"
COMMAND = re.compile(ASSIGNMENT + r"(\./\w|(orrery|mkdir|for|mpirun|sbatch|squeue|scancel|srun|pip|"
                     r"apt|make|cp|mv|touch|kill|export|source|podman|docker|dpkg-buildpackage|"
                     r"bash)\s)")

# What is not run, and why; an entry that fits nothing any more is an error.
NOT_HERE = {
    r"\./quickstart": "installs packages; continuous integration begins with it",
    r"\./(bootstrap|configure)|dpkg-buildpackage": "builds; continuous integration does",
    r"mpirun": "needs a build with MPI; validation/mpi runs such commands",
    r"sbatch|squeue|scancel|srun": "needs Slurm",
    r"pip install|apt install": "changes the machine",
    r"podman ": "needs a base image; make check-container builds and runs the image",
    r"orrery bench (--sizes \d+.*--kernels|run\.cfg|--gpu)": "takes seconds, or a GPU; "
    "validation/cli/course.py runs the worksheet's",
    r"\./prepare\.py 500000|orrery run run\.cfg -o million\.run|\.\./ovito/render\.py": "a million "
    "bodies take minutes",
    r"\./render\.py": "needs the module ovito; validation/docs/render.py runs it",
    r"orrery COMMAND|orrery \w+ (DIR|FILE|FOLDER)": "a synopsis",
}

# What makes a document's runs short; what they must end with is then left open. Those of documents
# that are not named here run in full.
PLUMMER = "-P bodies.count=64 -P time.end=0.5"
SHORTER = {
    "README.md": PLUMMER,
    "docs/manual/analysis.md": PLUMMER,
    "docs/manual/getting-started.md": "-P bodies.count=50 -P time.end=1",
    "docs/manual/running.md": PLUMMER,
    "docs/manual/studies.md": "-P time.end=0.1",
    "examples/cold-collapse/README.md": "-P bodies.count=64 -P time.end=0.3",
    "examples/core-collapse/README.md": "-P bodies.count=64 -P time.end=1",
    "examples/course/2-a-thousand-orbits/README.md": "-P time.end=100",
    "examples/course/3-virial-equilibrium/README.md": "-P time.end=0.5",
    "examples/course/4-pairs/README.md": "-P time.end=0.2",
    "examples/energy-conservation/README.md": "-P time.end=0.2",
    "examples/galaxies/README.md": "-P ensemble.systems=3 -P bodies.count=64 -P time.end=0.1",
    "examples/merger/README.md": "-P time.end=0.2",
    "examples/plummer-sphere/README.md": PLUMMER,
    "examples/radial-distribution/README.md": "-P bodies.count=100 -P time.end=0.1",
    "examples/scattering/README.md": "-P time.end=20",
    "examples/uniform-cube/README.md": "-P bodies.count=64 -P time.end=0.2",
    "examples/virial/README.md": "-P bodies.count=64 -P time.end=0.2",
    "examples/ovito/README.md": PLUMMER,
}

# Exit statuses of commands that run in full and are meant to fail.
STATUS = {"# not yet": 1, "time.integrator=euler": 1, "exit status": 0}

# Runs that a document speaks of and does not make itself.
BEFORE = {
    "docs/manual/reliability.md": "orrery run my.cfg -q",
    "docs/manual/running.md": "orrery run examples/plummer-sphere/run.cfg -q",
}

# Config files that documents speak of and do not show as a whole: this experiment.
SMALL = """
bodies = { initial = "plummer"; count = 50; };
physics = { softening = 0.3; };
time = { step = 0.002; end = 0.1; };
diagnostics = ( { type = "conservation"; every = 10; }, { type = "virial"; every = 10; } );
expect = ( { quantity = "energy_error"; at_most = 1.0; } );
"""
FILES = ("my.cfg", "run.cfg")

WRAPPER = """#!/bin/bash
if [ "$1" = run ]; then set -- "$@" {shorter}; fi
"{program}" "$@"
status=$?
if [ "$1" = run ] && [ -n "{shorter}" ] && [ $status = 1 ]; then status=0; fi
if [ "$1" = report ] && [ $status = 69 ] && ! command -v gnuplot >/dev/null; then status=0; fi
exit $status
"""

used = set()


def documents():
    root = pathlib.Path(tap.SOURCE)
    found = [root / "README.md", root / "examples/README.md", *(root / "docs/manual").glob("*.md"),
             *(root / "examples").glob("*/README.md"),
             *(root / "examples/course").glob("[0-9]*/README.md")]  # of the solutions: course.py
    return sorted(str(path.relative_to(root)) for path in found)


def blocks(text):
    """Pieces of code: what is indented by four spaces, or fenced as sh."""
    fenced = re.findall(r"^```(?:sh|bash|shell)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?:^    .*\n(?:\n(?=    ))*)+", text, re.MULTILINE)
    return fenced + [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in indented]


def commands(text):
    joined = [block.replace("\\\n", " ") for block in blocks(text)]
    return [line for block in joined for line in block.splitlines() if COMMAND.match(line)]


def reason(command):
    """Why a command is not run, or None."""
    for pattern, why in NOT_HERE.items():
        if re.match(ASSIGNMENT + f"({pattern})", command):
            used.add(pattern)
            return why
    return None


def prepare(document, text):
    """A folder with the examples, the config files of the document and `orrery` on the path."""
    os.makedirs("bin")
    for folder in ("examples", "config"):
        shutil.copytree(pathlib.Path(tap.SOURCE, folder), folder)
        for path in (pathlib.Path(folder), *pathlib.Path(folder).rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)  # a tarball may be read-only
    wrapper = WRAPPER.format(program=tap.ORRERY, shorter=SHORTER.get(document, ""))
    for name in ("bin/orrery", "orrery"):
        pathlib.Path(name).write_text(wrapper)
        os.chmod(name, 0o755)
    for name in FILES:
        pathlib.Path(name).write_text(SMALL)
    for block in blocks(text):  # a whole experiment, for the commands that follow
        if "bodies = " in block and "time = " in block and "expect" in block:
            lines = itertools.takewhile(lambda line: not COMMAND.match(line), block.splitlines())
            experiment = "\n".join(lines) + "\n"
            for name in ("my.cfg", "cluster.cfg"):
                pathlib.Path(name).write_text(experiment)


def execute(command, folder):
    environment = {**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"}
    result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                            capture_output=True, timeout=120 * tap.PATIENCE)
    wanted = next((status for words, status in STATUS.items() if words in command), 0)
    return result, wanted


def check_files(command, folder):
    """What the command is for is there now."""
    for part in re.split(r"&&|;|\|\|", command.split(" #")[0]):
        words = part.split()
        if words[:1] in (["orrery"], ["./orrery"]) and words[1:2] == ["report"]:
            page = words[words.index("-o") + 1] if "-o" in words else words[2]
            assert pathlib.Path(folder, page, "report.html").exists(), command
        if words[:1] == ["orrery"] and words[1:2] == ["convert"] and words[3] != "-":
            outputs = list(pathlib.Path(folder).glob(words[3]))
            assert outputs, command


def check_named(text, folder):
    """Files in run directories that the document names are there, but for what a person makes."""
    for path in set(re.findall(r"[\w-]+\.(?:run|sweep|convergence)/[\w./-]*\w", text)):
        run = pathlib.Path(folder, path.split("/")[0])
        if run.exists() and not re.search(r"snapshot|/(stop|checkpoint)$", path):
            assert pathlib.Path(folder, path).exists(), path


def run_document(document):
    if document.startswith("examples/"):
        tap.thorough()  # their runs are those of cli/examples.py and cli/course.py
    text = pathlib.Path(tap.SOURCE, document).read_text(encoding="utf-8")
    found = commands(text)
    prepare(document, text)
    folder = os.path.dirname(document) if document.startswith("examples/") else "."
    if document in BEFORE:
        assert execute(BEFORE[document], folder)[0].returncode == 0
    for command in found:
        why = reason(command)
        if why:
            print(f"# not run: {command} ({why})")
            continue
        if command.startswith("orrery bench") and not tap.is_thorough():
            print(f"# not run: {command} (takes seconds)")
            continue
        result, wanted = execute(command, folder)
        if document in SHORTER:
            wanted = 0
        assert result.returncode == wanted, (command, result)
        check_files(command, folder)
    check_named(text, folder)


def make_test(document):
    def test():
        run_document(document)
    test.__doc__ = f"the commands of {document}"
    return test


for position, name in enumerate(documents()):
    if commands(pathlib.Path(tap.SOURCE, name).read_text(encoding="utf-8")):
        globals()[f"test_{position:02}"] = make_test(name)


def test_reasons():
    """no reason to leave a command out is left over"""
    assert len([name for name in globals() if re.match(r"test_\d", name)]) > 12
    if tap.WISH != "1":
        raise tap.Skip("not every document was tried")
    assert used == set(NOT_HERE), set(NOT_HERE) - used


def anchors(path):
    """What a link can name in a document, as GitHub makes it of the headings."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"),
                  flags=re.MULTILINE | re.DOTALL)
    titles = [re.sub(r"\]\([^)]*\)|[`\[]", "", title)
              for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    named = set(re.findall(r'<a id="([^"]+)">', text))
    return named | {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(document):
    """Links of a document to files or headings that are not there."""
    text = re.sub(r"^    .*$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield f"{document}: {link}"


def test_links():
    """every link of the documents leads to a file, and to a heading where it names one"""
    root = pathlib.Path(tap.SOURCE)
    found = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md"),
             *root.glob("gpu/*.md"), *root.glob("src/**/*.md")]
    assert len(found) > 40
    broken = [link for document in found for link in broken_links(document)]
    assert not broken, "\n".join(broken)


def test_a_broken_link_is_seen():
    """a link to no file and one to no heading are found, and no other"""
    document = pathlib.Path("one.md")
    document.write_text("# The `first` one, of 2\n[a](one.md) [b](two.md)\n"
                        "[c](#the-first-one-of-2) [d](one.md#the-second)\n")
    assert list(broken_links(document)) == ["one.md: two.md", "one.md: one.md#the-second"]


MOST_WORDS = 35000  # a manual is to be read; worksheets and CONTRIBUTING are for others


def prose(text):
    """The words of a page outside of tables, code, comments and addresses of links."""
    text = re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(    |\|).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text).split()


def test_words():
    """the documents have no more words than are agreed, tables and code left out"""
    assert prose("# A b\n\n| c |\n|---|\n| d |\n\ne [f](g.md#h)\n\n    i\n\n```sh\nj\n```\n"
                 "- k <!-- l\nm --> n.\n") == ["#", "A", "b", "e", "[f]", "-", "k", "n."]
    root = pathlib.Path(tap.SOURCE)
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("src/**/README.md"),
             root / "gpu/README.md", root / "examples/README.md",
             *root.glob("examples/*/README.md")]
    words = {page.relative_to(root): len(prose(page.read_text(encoding="utf-8"))) for page in pages}
    longest = sorted(words.items(), key=lambda item: -item[1])[:10]
    assert len(words) > 50 and sum(words.values()) <= MOST_WORDS, (sum(words.values()), longest)


def test_rows_are_described():
    """each start has a heading in its page; integrators, fields and outputs are named in theirs"""
    choices = dict(line.split("\t") for line in tap.run("info", "--keys").stdout.splitlines())
    for key, page, pattern in (
            ("bodies.initial", "docs/manual/initial-conditions.md", r"(?m)^## .*\b{}\b"),
            ("time.integrator", "docs/theory.md", r"[`| ]{}[`| ,;]"),
            ("external.0.type", "docs/manual/config-file.md", r"`{}`"),
            ("outputs.0.type", "docs/manual/outputs.md", r"[`\"]{}[`\"]")):
        text = pathlib.Path(tap.SOURCE, page).read_text(encoding="utf-8")
        missing = [name for name in choices[key].split()
                   if not re.search(pattern.format(name), text)]
        assert choices[key] and not missing, f"{page} does not describe {missing} of {key}"


def test_gallery():
    """the gallery, which the README links, shows the figures that examples/draw makes"""
    root = pathlib.Path(tap.SOURCE)
    gallery = (root / "docs/gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^]]*\]\(\.\./examples/([^)]+)\)", gallery)
    drawn = ["merger/bodies.png"]  # of a million bodies, which the script does not wait for
    script = (root / "examples/draw").read_text().replace("\\\n", " ")
    for line in script.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["draw"]:
            drawn += [f"{words[1]}/{figure.split('=')[-1]}" for figure in words[3:]]
        elif words[:1] == ["together"]:
            drawn += [f"{words[1]}/{figure.split('=')[-1]}" for figure in words[2].split()]
    assert len(drawn) > 15 and sorted(shown) == sorted(drawn), set(shown) ^ set(drawn)
    assert all((root / "examples" / figure).exists() for figure in shown)
    assert "docs/gallery.md" in (root / "README.md").read_text(encoding="utf-8")


SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}


def cells(text, heading):
    """The rows of the first table behind these words, without its head, as lists of cells."""
    table = re.search(r"^\|.*?(?=^$)", text[text.index(heading):] + "\n\n", re.M | re.S)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in table.splitlines()[2:]]


def wrong_limits(limits, performance, gpu):
    """Entries of the tables of limits.md that do not follow from measured rates."""
    measured = {row[0]: float(row[1]) for row in cells(performance, "### Beside other programs")}
    gpu_rates = {tuple(row[:2]): row[2:] for row in cells(gpu, "## Speed")}
    rates = [2 * measured["Orrery single avx2"],  # of two cores; the page says four
             16 * measured["Orrery single symmetric, one thread"],
             float(gpu_rates["symmetric", "single"][4])]
    stated = [float(row[1]) for row in cells(limits, "**A model")]
    for rate, number in zip(rates, stated, strict=True):
        if abs(number / rate - 1) > 0.01:  # two or three digits are shown
            yield f"{number}: not {rate}"
    fmm = float(re.search(r"\(([\d.]+) s of one core", limits)[1])
    if str(fmm) not in re.search(r"^\| the whole force \|.*$", performance, re.M)[0]:
        yield f"fast multipoles: {fmm}"
    for heading, seconds in (
            ("1000 steps with one force", lambda n, k: 1000 * n * n / (1e9 * stated[k])),
            ("By fast multipoles", lambda n, k: 1000 * fmm * n / 1e6 / (4, 16)[k])):
        for row in cells(limits, heading):
            for k, cell in enumerate(row[1:]):
                expected = seconds(float(row[0].replace(",", "")), k)
                if cell == "less":
                    if expected > 0.1:
                        yield f"{row}: {expected}"
                    continue
                number, unit = cell.split()
                last = 0.5 if "." not in number else 0.05
                if abs(float(number) - expected / SECONDS[unit]) > 1.001 * last:
                    yield f"{row}: {expected / SECONDS[unit]} {unit}"


def test_limits():
    """times and rates of limits.md follow from performance.md and gpu.md"""
    docs = pathlib.Path(tap.SOURCE, "docs")
    pages = [(docs / name).read_text(encoding="utf-8")
             for name in ("manual/limits.md", "performance.md", "gpu.md")]
    assert not list(wrong_limits(*pages)), list(wrong_limits(*pages))
    for planted in (("| 120 |", "| 130 |"), ("1.4 min", "2.4 min"), ("62 min", "63 min"),
                    ("1.48 s of one", "1.58 s of one")):
        assert planted[0] in pages[0], planted
        assert list(wrong_limits(pages[0].replace(*planted), *pages[1:])), planted


def wrong_rates(page, result):
    """Cells of the table of the GPU's rates that are not those of the measurement."""
    rates = {(row["label"], row["precision"], row["count"]): row["rate"] / 1e9
             for row in result["bench"]["rows"] if row["part"] == "sizes" and not row["skipped"]}
    head = re.search(r"^\| kernel \| precision \|(.*)\|$", page[page.index("## Speed"):], re.M)
    counts = [int(count) for count in head[1].split("|")]
    for kernel, precision, *found in cells(page, "## Speed"):
        for count, cell in zip(counts, found, strict=True):
            rate = rates.get((kernel, precision, count))
            if cell != ("–" if rate is None else f"{rate:.0f}"):
                yield f"{kernel}, {precision}, {count}: {cell} and not {rate}"


def test_rates_of_a_gpu():
    """rates of gpu.md are those that were measured"""
    docs = pathlib.Path(tap.SOURCE, "docs")
    page = (docs / "gpu.md").read_text(encoding="utf-8")
    result = json.loads((docs / "performance/gpu-nvidia-h200.json").read_text(encoding="utf-8"))
    assert not list(wrong_rates(page, result)), list(wrong_rates(page, result))
    assert len(list(wrong_rates(page.replace("| 3059 |", "| 3095 |"), result))) == 1
    states = {name: part["state"] for name, part in result["parts"].items()}
    assert result["measured"] and set(states.values()) == {"passed"}, states


def test_a_wrong_command_is_seen():
    """a command with a slip fails, and a file that does not appear is missed"""
    prepare("README.md", "")
    result, wanted = execute("orrery rnu my.cfg", ".")
    assert result.returncode == 64 != wanted
    os.makedirs("some.run")
    try:
        check_named("see some.run/nothing.csv", ".")
    except AssertionError:
        return
    raise AssertionError("a missing file was not seen")


tap.main()
