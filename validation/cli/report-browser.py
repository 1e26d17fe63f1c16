"""Reports in a browser: figures are shown, words of a run not obeyed, colours differ for all."""

import base64
import html
import html.parser
import json
import os
import pathlib
import re

import numpy
import tap
from pictures import BLIND, lab, near, pixels
from reports import (blocks, change_run, chromium, figures_of, make_run, need_gnuplot,
                     quick_report, read, report, without_scripts)


def test_browser_shows_every_figure():
    """Chromium opens the page without a word on its console and lays out every figure"""
    tap.thorough()
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    dom = chromium("--dump-dom")
    assert len(figures_of(dom)) == 5
    assert dom.count("<svg") == 5 and dom.count("<figcaption>") == 6  # with that of the player
    ids = re.findall(r'\bid=[\'"]([^\'"]*)', dom)
    assert len(ids) == len(set(ids)) and "gpPt6" in ids, sorted(ids)
    assert set(re.findall(r'class="curve (\w+)"', dom)) == {"c0", "c1", "c2"}


# Each of them gives the page another title, if it is more than words.
ATTACK = "document.title = 'obeyed'"

ATTACKS = (f"<script>{ATTACK}</script>", f'"><script>{ATTACK}</script>',
           f"</style></title><script>{ATTACK}</script>", f'"><img src=x onerror="{ATTACK}">',
           f"<svg onload=\"{ATTACK}\">", f'<a href="javascript:{ATTACK}" autofocus>x</a>',
           f"' onfocus='{ATTACK}' autofocus='",
           f"</pre><iframe srcdoc='<script>{ATTACK}</script>'>",
           f"javascript:{ATTACK}", f"<style onload=\"{ATTACK}\">body {{ display: none }}</style>")


class Markup(html.parser.HTMLParser):
    """Elements and attributes that would load or do something."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found += [tag] if tag in ("script", "img", "iframe", "object", "embed", "base") else []
        self.found += [f"{name}={value}" for name, value in attributes
                       if name.startswith("on") or name in ("href", "src") and "script:" in value]


def change_strings(value, words, path=""):
    """Every string of a document, but for what must be known by its name."""
    if isinstance(value, dict):
        return {key: change_strings(inner, words, f"{path}.{key}") for key, inner in value.items()}
    if isinstance(value, list):
        return [change_strings(inner, words, path) for inner in value]
    known = (".config.diagnostics", ".config.outputs", ".files", ".verdict", ".program.name")
    return words if isinstance(value, str) and not path.startswith(known) else value


def test_browser_obeys_no_word():
    """markup in every string that a user may choose: words on the page, in Chromium too"""
    need_gnuplot()
    make_run("made.run", verdict="failed", steps=1300)
    make_run("other.run", step=0.002, steps=1300)
    good = json.loads(read("made.run/run.json"))
    good |= {"host": "x", "ended_by": "x", "errors": ["x"],
             "compute": {"kernel": "x", "isa": "x", "device": "x"}, "trust": {"text": "x"},
             "energy_budget": {"text": "x"}, "members": [{"system": 1, "file": "x"}]}
    good["watch"] |= {"text": "x"}
    good["expect"][0] |= {"unit": "x", "worst_system": 1}
    for words in ATTACKS if tap.is_thorough() else ATTACKS[3:4]:
        run = change_strings(good, words)
        run["config"]["outputs"][0]["file"] = words.replace("/", "\\")
        run["files"].append(run["config"]["outputs"][0]["file"])
        pathlib.Path("made.run", run["files"][-1]).write_text(read("made.run/trajectory.xyz"))
        pathlib.Path("made.run/run.cfg").write_text(words + "\n")
        pathlib.Path("made.run/run.json").write_text(json.dumps(run))
        for arguments, page in ((["made.run"], "made.run"),
                                (["made.run", "other.run", "-o", "both"], "both")):
            report(*arguments)
            page = f"{page}/report.html"
            shown = chromium("--dump-dom", page=page)
            assert html.unescape(re.search("<title>(.*?)</title>", shown)[1]) == \
                words + ("" if page.startswith("both") else ": made.run"), words
            assert html.unescape(re.search("<h1>(.*?)</h1>", shown)[1]).startswith(words), words
            found = Markup(without_scripts(shown)).found
            assert not found, (words, found)
        os.unlink(pathlib.Path("made.run", run["files"][-1]))


def test_policy_of_the_page():
    """what were markup after all is not obeyed: its policy lets no script, handler or style in"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    quick_report("made.run", "--plot", "energies")
    page = read("made.run/report.html")
    assert page.index("Content-Security-Policy") < page.index("<title>")
    for words in ATTACKS if tap.is_thorough() else ATTACKS[:1]:
        for place in ("<h1>", "<figcaption>", "<dd>", "<main>") if tap.is_thorough() else ("<h1>",):
            assert place in page
            pathlib.Path("hit.html").write_text(page.replace(place, place + words, 1))
            shown = chromium("--dump-dom", page="hit.html",
                             console=("Content Security Policy", "violates"))
            assert "<title>made</title>" in shown, words
    # The same without the policy is obeyed: the test would see it.
    pathlib.Path("hit.html").write_text(re.sub("<meta http-equiv.*", "", page).replace(
        "<h1>", "<h1>" + ATTACKS[0], 1))
    assert "<title>obeyed</title>" in chromium("--dump-dom", page="hit.html")


def test_colours():
    """page and pictures share one palette, whose colours also colour-blind readers tell apart"""
    need_gnuplot()
    make_run("made.run")
    quick_report("made.run")
    page, commands = read("made.run/report.html"), read("made.run/plots/energies.gp")
    light, dark = (dict(re.findall(r"--(\w+): (#\w+);", text)) for text in
                   re.findall(r":root \{([^}]*)\}", page))
    lines = re.findall(r"set linetype (\d) linecolor rgb '(#\w+)'", commands)
    others = dict(re.findall(r"^(\w+) = '(#\w+)'$", commands, re.M))
    curves = [f"c{int(number) - 1}" for number, _ in lines]
    assert len(lines) == 7 and [light[name] for name in curves] == [c for _, c in lines], lines
    assert {**light, **others} == light and others["ink"] and set(light) == set(dark), others
    for colours in (light, dark):
        for blindness in BLIND:
            seen = [lab(colours[name], blindness) for name in (*curves, "card")]
            near = [(numpy.linalg.norm(a - b), i, k) for i, a in enumerate(seen)
                    for k, b in enumerate(seen[:i])]
            # 2.3 is just noticeable; thin lines need several times that.
            assert min(near)[0] > 14, (blindness, min(near))


# What a page does that is told to measure the texts of its figures. Boxes touch at their edges.
MEASURE = """<style>main { width: 368px; padding: 0 16px; }</style><script>
const found = [...document.querySelectorAll('figure svg')].map(svg => {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
    const words = texts.map(text => text.textContent);
    const boxes = texts.map(text => text.getBoundingClientRect());
    const outside = words.filter((_, i) => boxes[i].left < frame.left
        || boxes[i].right > frame.right || boxes[i].top < frame.top
        || boxes[i].bottom > frame.bottom);
    const over = [];
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, k) => {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
            over.push([words[k], words[i]]);
    }));
    return [svg.parentNode.id, texts.length, frame.width, outside, over];
});
document.body.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
</script></body>"""


def test_browser_figures_on_a_phone():
    """at 400 pixels no text of a figure is cut, lies on another one or is too small to read"""
    tap.thorough()
    need_gnuplot()
    for k, step in enumerate((0.001, 0.00101, 0.002, 0.002125, 0.0625)):
        make_run(f"study/a-run-with-a-long-name-that-goes-on-and-on-to-say-it-all-{k}",
                 step=step, steps=1300, worst=(300 * step)**3, verdict="failed" if k else "held")
    for run in os.listdir("study"):
        change_run(f"study/{run}", **{f"config__physics__key_{run[-1]}_{i}": i for i in range(9)},
                   interactions=123456 * (1 + int(run[-1])))
    report("study")
    page = read("study/report.html").replace("</body>", MEASURE)
    page = re.sub("<meta http-equiv.*", "", page)  # which would not let it measure
    pathlib.Path("measured.html").write_text(page)
    dom = chromium("--dump-dom", page="measured.html")
    found = json.loads(base64.b64decode(re.search(r"<body>([\w+/=]+)", dom).group(1)))
    assert len(found) == len(figures_of(page)) == 8, found
    for name, texts, width, outside, over in found:
        assert texts > 9 and width < 368, (name, texts, width)
        assert 14 * width / 480 > 9.5, (name, width)  # gnuplot's text has 14 of 480 pixels
        assert not outside and not over, (name, outside, over)


# What a reader does with a figure: points at places of 480 x 373, and clicks on names in the key.
POINT = """<script>
const svg = document.querySelector('#energy-error svg'), frame = svg.getBoundingClientRect();
const scale = frame.width / 480, found = [];
const point = (x, y) => {
    svg.dispatchEvent(new PointerEvent('pointermove', { clientX: frame.left + x * scale,
                                                        clientY: frame.top + y * scale }));
    found.push(svg.querySelector('.value').textContent);
};
const curves = [...svg.querySelectorAll('.curve')];
const seen = () => found.push(curves.map(
    curve => getComputedStyle(curve.querySelector('path')).visibility === 'visible'));
const [first] = curves.map(curve => curve.querySelector('text'));
const largest = curves[1].querySelector('path').getAttribute('d').match(/[\\d.]+/g).map(Number);
point(largest.at(-2), largest.at(-1));
point(2, 2);
seen();
first.dispatchEvent(new MouseEvent('click', { bubbles: true }));
seen();
first.dispatchEvent(new KeyboardEvent('keydown', { key: 'x', bubbles: true }));
seen();
first.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
seen();
dispatchEvent(new Event('beforeprint'));
found.push([...document.querySelectorAll('details')].every(part => part.open));
document.body.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
</script></body>"""


def test_browser_figures_answer():
    """the number of a curve under the cursor, curves that a click or a key hides, open details"""
    need_gnuplot()
    make_run("made.run", steps=1300)
    report("made.run", "--plot", "energy-error")
    page = read("made.run/report.html").replace("</body>", POINT)
    pathlib.Path("pointed.html").write_text(re.sub("<meta http-equiv.*", "", page))
    dom = chromium("--dump-dom", page="pointed.html")
    value, far, *shown, opened = json.loads(
        base64.b64decode(re.search(r"<body>([\w+/=]+)", dom).group(1)))
    curve = blocks("made.run/plots/energy-error.dat")[1]
    name, time, number = re.fullmatch(r"(\w) = ([\d.e-]+) T: ([\d.e-]+)", value).groups()
    # A hundredth of a pixel is 3e-4 of the decades of the axis, and four digits are told.
    assert name == "t" and abs(float(time) / curve[-1, 0] - 1) < 1e-3, (value, curve[-1])
    assert abs(float(number) / curve[-1, 1] - 1) < 1e-2, (value, curve[-1])
    assert far == "" and opened is True, (far, opened)
    whole = [True] * len(shown[0])
    assert shown == [whole, [False, *whole[1:]], [False, *whole[1:]], whole], shown


def test_browser_light_dark_phone():
    """the curves are there in light, in dark and on a phone; dark pages are dark"""
    tap.thorough()
    need_gnuplot()
    make_run("made.run")
    report("made.run")
    # The first colours of curves and the page's background, from script.c.
    light, dark = (0x00, 0x72, 0xb2), (0x3f, 0x9b, 0xe0)
    backgrounds = {"light": (0xfa, 0xfb, 0xfc), "dark": (0x14, 0x17, 0x1c)}
    shots = {"light": (light, "1000,1300"), "dark": (dark, "1000,1300", "--force-dark-mode"),
             "phone": (light, "500,1400")}
    for name, (curve, size, *options) in shots.items():
        for _ in range(3):  # a browser on a busy machine may take its picture before the figures
            chromium(f"--window-size={size}", f"--screenshot={os.path.abspath(name)}.png", *options)
            seen = pixels(f"{name}.png")
            if near(seen, curve) > 100:
                break
        assert near(seen, curve) > 100, name
        assert name not in backgrounds or near(seen, backgrounds[name]) > 100000, name



tap.main()
