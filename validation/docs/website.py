"""The documents as HTML (make html): links, headings, pictures and the search of every page."""

import html.parser
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import tap

SCRIPT = pathlib.Path(tap.SOURCE, "docs/make-html.py")


class Page(html.parser.HTMLParser):
    """What a page leads to, and what leads into it."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.names, self.headings = [], set(), 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names.update(value for key, value in attributes if key in ("id", "name") and value)
        self.headings += tag == "h1"
        target = values.get("src") if tag in ("img", "script") else values.get("href")
        if target and not re.match(r"[a-z]+:", target):
            self.targets.append(target)


def script():
    specification = importlib.util.spec_from_file_location("make_html", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


# Sphinx registers its parts once in a process.
ONE_PAGE = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import website_script as make_html
make_html.PARTS = {"All": ["docs/one"]}
root = pathlib.Path(sys.argv[2])
sys.exit(0 if make_html.build(root, root / "site") else 3)
"""


def dead(folder):
    """The links of a site that lead to no file, or to no place in it."""
    pages = {path.resolve(): Page(path) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        for target in page.targets:
            file, _, place = target.partition("#")
            link = path.parent / file.split("?")[0]
            if link.is_symlink():  # Debian's packages have the scripts of libjs-sphinxdoc
                continue
            there = link.resolve() if file else path
            if not there.exists() or (place and place not in pages[there].names):
                yield f"{path.name}: {target}"


def installed():
    """The site as make install-html puts it below a directory."""
    build = os.environ.get("ORRERY_BUILD", ".")
    if not pathlib.Path(build, "Makefile").exists():
        raise tap.Skip("no Makefile in the build directory")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR")}
    root = pathlib.Path("root").absolute()
    result = subprocess.run(["make", "-s", "-C", build, "install-html", f"DESTDIR={root}",
                             "prefix=/usr", f"PYTHON={sys.executable}"], capture_output=True,
                            text=True, env=environment, timeout=300 * tap.PATIENCE)
    assert result.returncode == 0, result
    return root / "usr/share/doc/orrery/html"


def test_site():
    """make install-html: every page is made, each has one title, every link leads somewhere, and
    words are found"""
    tap.need("myst_parser")
    tap.thorough()  # a package is checked like this too (--check)
    make_html = script()
    root, site = pathlib.Path(tap.SOURCE), installed()
    wanted = {path.relative_to(root).with_suffix(".html") for path in make_html.documents(root)
              if path.suffix == ".md"} - {pathlib.Path("README.html")}
    missing = [path for path in wanted if not (site / path).exists()]
    assert len(wanted) > 45 and not missing and (site / "index.html").exists(), missing
    assert not list(dead(site)), list(dead(site))[:20]
    titles = {path: Page(site / path).headings for path in wanted}
    assert all(titles.values()), titles
    assert 'white-space: nowrap">2.4e-3<' in (site / "docs/manual/running.html").read_text()
    index = json.loads(re.search(r"setIndex\((.*)\)", (site / "searchindex.js").read_text())[1])
    for word in ("softening", "hermite4", "checkpoint"):
        assert any(term.startswith(word[:6]) for term in index["terms"]), word
    assert "searchindex.js" in (site / "search.html").read_text()
    (site / "docs/manual/diagnostics.html").unlink()
    assert list(dead(site)), "a page that is missing was not seen"


def test_site_by_its_script():
    """the script alone, as a package calls it, makes the same pages where it is told to"""
    tap.need("myst_parser")
    tap.thorough()
    result = subprocess.run([sys.executable, SCRIPT, "site"], capture_output=True, text=True)
    assert result.returncode == 0 and "index.html" in result.stdout, result
    assert not list(dead(pathlib.Path("site")))


def test_numbers_in_tables_stay_whole():
    """a browser breaks a narrow cell at any minus, but not within these; links and code stay"""
    whole = '<span style="white-space: nowrap">{}</span>'.format
    row = script().unbroken("| `1e-3` | 7e-6 to [1.5e-7](a/2e-3.md#3e-4) | e-3, x-2e-3, 1e-3-b |")
    assert row == f"| `1e-3` | {whole('7e-6')} to [{whole('1.5e-7')}](a/2e-3.md#3e-4) | " \
        "e-3, x-2e-3, 1e-3-b |", row


def test_a_dead_link_is_seen():
    """a link to no page, to no heading and to no picture each end the build, and no other does"""
    tap.need("myst_parser")
    pathlib.Path("website_script.py").write_text(SCRIPT.read_text())
    texts = {"clean": "[one](docs/one.md) [there](docs/one.md#the-second-one)",
             "page": "[two](docs/two.md)", "heading": "[there](docs/one.md#the-third)",
             "picture": "![none](docs/none.png)"}
    for name, text in texts.items():
        root = pathlib.Path(name)
        (root / "docs").mkdir(parents=True)
        (root / "gpu").mkdir()
        (root / "README.md").write_text(f"# A title\n\n{text}\n")
        (root / "docs/one.md").write_text("# One\n\n## The second, one\n\n[up](../README.md)\n")
        (root / "gpu/README.md").write_text("# Kernels\n")
        for file in ("NEWS", "LICENSE"):
            (root / file).write_text("words\n")
        result = subprocess.run([sys.executable, "-c", ONE_PAGE, ".", name], capture_output=True)
        assert result.returncode == (0 if name == "clean" else 3), (name, result)


def check_site(folder):
    """Ends with 0 if the site in `folder`, as of a package, has its pages and no dead link."""
    found = list(dead(folder))
    missing = [name for name in ("index.html", "search.html", "docs/manual/diagnostics.html")
               if not (folder / name).exists()]
    print("\n".join(missing + found) or f"{folder}: every link leads somewhere")
    return 1 if missing or found else 0


if sys.argv[1:2] == ["--check"]:
    sys.exit(check_site(pathlib.Path(sys.argv[2])))
tap.main()
