#!/usr/bin/env python3
"""make-html.py FOLDER: the documents as HTML with search, from the same Markdown (make html).

Needs Sphinx with MyST (Debian: python3-sphinx python3-myst-parser). A link to a page, a heading or
a picture that does not exist is an error. The pages need no network: FOLDER/index.html opens from
the disk, and so does the search.
"""

import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The parts of the navigation: their titles, and their pages in order; * takes the rest of a folder.
PARTS = {
    "Getting started": ["docs/manual/getting-started", "examples/README", "docs/gallery"],
    "How to": ["docs/manual/how-to", "docs/manual/limits", "examples/course/README",
               "docs/tutorials/README", "docs/tutorials/add-a-diagnostic",
               "docs/tutorials/add-an-integrator", "docs/tutorials/add-a-start",
               "docs/tutorials/learn-gpu"],
    "Reference": ["docs/README", "docs/manual/running", "docs/manual/config-file",
                  "docs/manual/initial-conditions", "docs/manual/diagnostics",
                  "docs/manual/outputs", "docs/manual/studies", "docs/manual/reliability",
                  "docs/manual/mpi", "docs/gpu", "docs/manual/analysis", "docs/manual/ovito",
                  "docs/manual/glossary"],
    "Explanation": ["docs/theory", "docs/validation", "docs/reliability", "docs/performance",
                    "docs/scaling", "docs/architecture", "CONTRIBUTING", "gpu/README"],
}
KINDS = (".md", ".svg", ".png", ".gif", ".cfg", ".csv", ".ipynb", ".py", ".sh")
SETTINGS = {
    "project": "Orrery", "html_title": "Orrery", "root_doc": "index", "language": "en",
    "extensions": ["myst_parser"], "myst_heading_anchors": 6, "html_theme": "alabaster",
    "html_theme_options": {"page_width": "min(80em, 96vw)", "body_max_width": "60em", "font_size": "16px"},
    "html_sidebars": {"**": ["about.html", "searchbox.html", "navigation.html"]},
    "smartquotes": False,  # E' is no quotation
    "html_copy_source": False, "html_show_sphinx": False, "html_show_copyright": False,
    "highlight_language": "none",  # most blocks are commands and outputs
}


def documents(root):
    """The files of the documents: pages, pictures, and the files that pages link."""
    for folder in ("docs", "examples"):
        yield from (path for path in (root / folder).rglob("*") if path.suffix in KINDS)
    yield from root.glob("*.md")
    yield from root.glob("src/*/README.md")
    yield from (root / name for name in ("gpu/README.md", "NEWS", "LICENSE"))


def unbroken(row):
    """A row of a table whose numbers, such as 1e-3, no browser breaks at their minus; code is left
    alone, since the theme does not break it."""
    parts = row.split("`")
    parts[::2] = [re.sub(r"(?<![\w/#.-])\d[\d.]*e-\d+(?![\w-])",
                         r'<span style="white-space: nowrap">\g<0></span>', part)
                  for part in parts[::2]]
    return "`".join(parts)


def stage(root, folder):
    """Copies the documents, with the root's README as index, which gets the navigation."""
    for path in documents(root):
        target = folder / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    named = {page for pages in PARTS.values() for page in pages}
    for page in folder.rglob("*.md"):
        name = page.relative_to(folder)
        text = page.read_text(encoding="utf-8")

        def link(match, page=page, name=name):
            target = page.parent / match[2].partition("#")[0]
            if target.resolve() == folder.resolve() / "README.md":
                return match[0].replace("README.md", "index.md")
            source = root / name.parent / match[2]
            return match[0] if target.exists() or not source.is_dir() else f"`{match[1]}`"

        text = re.sub(r"\[([^]]*)\]\((?!https?:)([^)\s#][^)\s]*)\)", link, text)
        text = re.sub(r"^\|.*", lambda row: unbroken(row[0]), text, flags=re.MULTILINE)
        if str(name.with_suffix("")) not in named and str(name) != "README.md":
            text = "---\norphan: true\n---\n" + text  # a page of one example, in no part
        page.write_text(text, encoding="utf-8")
    index = (folder / "README.md").rename(folder / "index.md")
    with index.open("a", encoding="utf-8") as file:
        for title, pages in PARTS.items():
            lines = "\n".join(pages)
            file.write(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n:maxdepth: 1\n\n"
                       f"{lines}\n```\n")


def build(root, output):
    """Writes the site into the folder `output`; true if nothing was wrong."""
    from sphinx.application import Sphinx  # only here: the test skips without it
    with tempfile.TemporaryDirectory(prefix="orrery-html-") as work:
        folder = pathlib.Path(work, "pages")
        stage(root, folder)
        site = Sphinx(str(folder), None, str(output), f"{work}/state", "html",
                      confoverrides=SETTINGS, status=None, warningiserror=True, keep_going=True)
        site.build()
        return site.statuscode == 0


def main():
    output = pathlib.Path(sys.argv[1])
    try:
        held = build(ROOT, output)
    except ImportError as error:
        sys.exit(f"make html: {error}; apt install python3-sphinx python3-myst-parser")
    if not held:
        sys.exit("make html: there are dead links, or worse")
    print(output / "index.html")


if __name__ == "__main__":
    main()
