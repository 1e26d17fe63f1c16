#!/usr/bin/env python3
"""print.py FOLDER [NUMBER]: the worksheets as one page for paper, FOLDER/index.html.

With a matriculation number the page has that student's own tasks (own.py). It needs Sphinx with
MyST (Debian: python3-sphinx python3-myst-parser); a browser prints the page, or writes a PDF.
"""

import pathlib
import re
import sys
import tempfile

import own

COURSE = pathlib.Path(__file__).resolve().parent
STYLE = """
body { max-width: 46em; margin: 2em auto; padding: 0 1em; line-height: 1.4;
       font-family: "DejaVu Serif", Georgia, serif; }
pre, code { font-family: "DejaVu Sans Mono", monospace; font-size: 85%; }
pre { border: 1px solid #bbb; padding: 0.5em; white-space: pre-wrap; break-inside: avoid; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #bbb; padding: 0.2em 0.6em; }
td p, th p, li p { margin: 0.2em 0; }
img { max-width: 48%; break-inside: avoid; }
h1, h2, h3 { break-after: avoid; }
.headerlink, .related, .toctree-wrapper > p { display: none; }
@media print {
  body { max-width: none; margin: 0; font-size: 10pt; }
  .toctree-wrapper > section:not(:first-of-type) { break-before: page; }
  li { break-inside: avoid; }
}
"""
SETTINGS = {"project": "Worksheets", "html_title": "Worksheets", "root_doc": "index",
            "extensions": ["myst_parser"], "html_theme": "basic", "html_static_path": ["static"],
            "html_css_files": ["print.css"], "html_sidebars": {"**": []}, "language": "en",
            "smartquotes": False, "highlight_language": "none", "html_copy_source": False,
            "html_show_sphinx": False, "html_show_copyright": False, "html_use_index": False,
            "html_permalinks": False}


def sheet_text(folder, number):
    """A sheet as paper has it: with its configs, and links as words."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"(?<!!)\[([^]]*)\]\([^)]*\)", r"\1", text)
    configs = sorted(folder.glob("*.cfg"))
    if number:
        tasks = [own.own_task(number, f"{folder.name}/{config.name}")[0] for config in configs]
        text += "".join(f"\n**Yours, {number}:** {task}\n" for task in tasks if task)
    for config in configs:
        text += f"\n## {config.name}\n\n```\n{config.read_text(encoding='utf-8')}```\n"
    return text


def stage(folder, number):
    """Writes the pages that Sphinx makes one of, and copies their figures."""
    sheets = sorted(path.parent for path in COURSE.glob("[0-9]*/README.md"))
    for sheet in sheets:
        target = folder / sheet.name
        target.mkdir()
        (target / "README.md").write_text(sheet_text(sheet, number), encoding="utf-8")
        for figure in sheet.glob("*.svg"):
            (target / figure.name).write_bytes(figure.read_bytes())
    (folder / "static").mkdir()
    (folder / "static/print.css").write_text(STYLE, encoding="utf-8")
    pages = "\n".join(f"{sheet.name}/README" for sheet in sheets)
    (folder / "index.md").write_text(f"# Worksheets\n\n```{{toctree}}\n{pages}\n```\n",
                                     encoding="utf-8")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n", maxsplit=1)[0])
    output = pathlib.Path(sys.argv[1])
    if output.exists():
        sys.exit(f"print.py: {output} is there already")
    try:
        from sphinx.application import Sphinx
    except ImportError as error:
        sys.exit(f"print.py: {error}; apt install python3-sphinx python3-myst-parser")
    with tempfile.TemporaryDirectory(prefix="orrery-print-") as work:
        folder = pathlib.Path(work, "pages")
        folder.mkdir()
        stage(folder, "".join(sys.argv[2:]))
        site = Sphinx(str(folder), None, str(output), f"{work}/state", "singlehtml",
                      confoverrides=SETTINGS, status=None, warningiserror=True, keep_going=True)
        site.build()
    if site.statuscode:
        sys.exit("print.py: a sheet is not right")
    print(output / "index.html")


main()
