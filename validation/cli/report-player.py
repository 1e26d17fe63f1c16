"""The player of a page: the bodies stand where their frames say, and nothing leaves the page."""

import base64
import html
import json
import os
import pathlib
import re
import zlib

import numpy
import tap
from pictures import pixels
from reports import chromium, make_run, quick_report as report, read


def player_of(path):
    """What the page at `path` holds for its player."""
    page = read(path)
    tag = re.search(r'<figure id="player" ([^>]*)>', page)[1]
    about = {key: html.unescape(value)
             for key, value in re.findall(r'data-([\w-]+)="([^"]*)"', tag)}
    packed = re.search(r'<script type="text/plain">([A-Za-z0-9+/=]*)</script>', page)[1]
    data, at = zlib.decompress(base64.b64decode(packed)), 0

    def take(kind, count):
        nonlocal at
        part = numpy.frombuffer(data, kind, count, at)
        at += part.nbytes
        return part

    bodies, frames = int(about["bodies"]), int(about["frames"])
    scale, limit = float(about["scale"]), float(about["limit"])
    found = {"about": about, "times": take("<f8", frames),
             "middles": take("<f8", 3 * frames).reshape(frames, 3), "radii": take("<f8", frames),
             "ids": take("<f8", bodies), "masses": take("<f8", bodies), "group": take("u1", bodies),
             "groups": json.loads(about["groups"]), "speeds": []}
    codes, before = [], numpy.zeros((3, bodies), "u2")
    for _ in range(frames):
        planes = take("u1", 6 * bodies).reshape(3, 2, bodies).astype("u2")
        before = before + planes[:, 0] + 256 * planes[:, 1]
        codes.append(before.view("i2").T)
        if float(about["fastest"]) > 0:
            found["speeds"].append(take("u1", bodies))
    assert at == len(data)
    span = numpy.arcsinh(limit / scale)
    found["positions"] = scale * numpy.sinh(numpy.array(codes) / 32767 * span)
    return found


def write_frames(path, positions, *, extra="", rows=None, times=None, comment='pbc="F F F"'):
    """Frames of bodies; `rows` are the further columns of each body, which `extra` names."""
    with open(path, "w") as file:
        for k, frame in enumerate(positions):
            time = "" if times is None else f" Time={times[k]!r}"
            file.write(f"{len(frame)}\n{comment} Properties=species:S:1:pos:R:3{extra}{time}\n")
            for i, (x, y, z) in enumerate(frame):
                more = " ".join(str(cell) for cell in rows[k][i]) if rows else ""
                file.write(f"X {float(x)!r} {float(y)!r} {float(z)!r} {more}\n")


def half_mass(positions, masses):
    """The median of the positions, and the radius about it that holds half of the mass."""
    middle = numpy.median(positions, axis=0)
    distance = numpy.linalg.norm(positions - middle, axis=1)
    order = distance.argsort()
    inside = masses[order].cumsum()
    return middle, distance[order][inside >= inside[-1] / 2][0]


def test_numbers():
    """positions, times, masses, ids and speeds of a cluster that moves and has lost a body"""
    rng = numpy.random.default_rng(1)
    frames, bodies = 7, 40
    drift = numpy.array([1e6, -3.0, 2e3])
    cloud = rng.normal(size=(frames, bodies, 3))
    cloud[:, 5] += 1e5 * numpy.arange(frames)[:, None]
    positions = cloud + drift * numpy.arange(frames)[:, None, None]
    masses = rng.uniform(0.5, 2.0, bodies)
    velocities = rng.normal(size=(frames, bodies, 3))
    velocities[2, 3] = 0.0
    make_run("made.run", bodies=bodies)
    write_frames("made.run/trajectory.xyz", positions, extra=":velo:R:3:mass:R:1:id:I:1",
                 rows=[[(*velocities[k, i], masses[i], 1000 + 7 * i) for i in range(bodies)]
                       for k in range(frames)], times=[0.25 * k for k in range(frames)])
    report("made.run", status=None)
    found = player_of("made.run/report.html")
    assert (found["times"] == 0.25 * numpy.arange(frames)).all()
    assert (found["masses"] == masses).all()
    assert (found["ids"] == 1000 + 7 * numpy.arange(bodies)).all()
    assert found["groups"] == []
    scale = float(found["about"]["scale"])
    for k in range(frames):
        middle, half = half_mass(positions[k], masses)
        assert numpy.allclose(found["middles"][k], middle, rtol=1e-12, atol=0)
        assert numpy.isclose(found["radii"][k], half, rtol=1e-9)
        wanted = positions[k] - middle
        # A step of the 16 bits is span / 32767 of hypot(x, scale); half of one is lost.
        step = numpy.arcsinh(float(found["about"]["limit"]) / scale) / 32767
        lost = abs(found["positions"][k] - wanted)
        assert (lost <= 0.51 * step * numpy.hypot(wanted, scale)).all()
    assert scale * step < 5e-4 * half  # what is lost near the middle, though a body is at 6e5
    speed = numpy.linalg.norm(velocities, axis=2)
    slow, fast = speed[speed > 0].min(), speed.max()
    assert numpy.isclose(float(found["about"]["slowest"]), slow, rtol=1e-14)
    assert numpy.isclose(float(found["about"]["fastest"]), fast, rtol=1e-14)
    with numpy.errstate(divide="ignore"):
        level = numpy.maximum(255 * numpy.log(speed / slow) / numpy.log(fast / slow), 0)
    assert (abs(found["speeds"] - level) <= 0.501).all()
    assert found["speeds"][2][3] == 0


def test_few_bodies_about_their_centre_of_mass():
    """few bodies: the middle is their centre of mass, the radius holds all of them"""
    positions = numpy.array([[[0.0, 0, 0], [4.0, 0, 0], [0, 8.0, 0]]] * 2) + [[[1.0, 2, 3]],
                                                                             [[5.0, 5, 5]]]
    make_run("made.run")
    write_frames("made.run/trajectory.xyz", positions, extra=":mass:R:1",
                 rows=[[(2.0,), (1.0,), (1.0,)]] * 2)
    report("made.run", status=None)
    found = player_of("made.run/report.html")
    assert numpy.allclose(found["middles"], [[2.0, 4.0, 3.0], [6.0, 7.0, 5.0]])
    assert numpy.allclose(found["radii"], numpy.hypot(1.0, 6.0))
    assert numpy.isnan(found["times"]).all()  # the file does not say them
    assert (found["ids"] == [1, 2, 3]).all() and found["about"]["fastest"] == "0"


def test_columns_in_any_order():
    """ids, masses and velocities are found wherever they stand, also in the first column"""
    make_run("made.run")
    cells = {"id:I:1": ("12", "7", "9"), "mass:R:1": ("2", "1", "1"),
             "velo:R:3": ("3 0 4", "0 0 1", "0 2 0"), "pos:R:3": ("0 0 0", "4 0 0", "0 8 0")}
    for turn in range(3):
        order = [*cells][turn:] + [*cells][:turn]
        lines = "".join(" ".join(cells[name][k] for name in order) + "\n" for k in range(3))
        pathlib.Path("made.run/trajectory.xyz").write_text(
            f'3\npbc="F F F" Properties={":".join(order)}\n{lines}')
        report("made.run", status=None)
        found = player_of("made.run/report.html")
        assert (found["ids"] == [12, 7, 9]).all(), (order, found["ids"])
        assert (found["masses"] == [2, 1, 1]).all(), (order, found["masses"])
        assert numpy.allclose(found["middles"], [[1.0, 2.0, 0.0]]), (order, found["middles"])
        assert float(found["about"]["fastest"]) == 5.0, (order, found["about"])


def test_groups():
    """systems of an ensemble, and species of bodies, are told by their names"""
    make_run("made.run", bodies=4)
    positions = numpy.arange(12.0).reshape(1, 4, 3) ** 2
    path = pathlib.Path("made.run/trajectory.xyz")
    write_frames(path, positions, extra=":cluster:I:1", rows=[[(7,), (7,), (3,), (3,)]])
    report("made.run", status=None)
    found = player_of("made.run/report.html")
    assert found["about"]["kind"] == "system" and found["groups"] == ["7", "3"], found["groups"]
    assert list(found["group"]) == [0, 0, 1, 1]
    words = "'><script>alert(1)</script>"  # of a stranger's file
    path.write_text(re.sub("^X", words, re.sub(":cluster:I:1", "", path.read_text()), count=1,
                           flags=re.M))
    report("made.run", status=None)
    found = player_of("made.run/report.html")
    assert found["about"]["kind"] == "species" and found["groups"] == [words, "X"], found["groups"]
    assert "&lt;script&gt;" in read("made.run/report.html")
    assert read("made.run/report.html").count("<script") == 3
    many = 70  # more than a player tells apart
    make_run("many.run", bodies=many)
    write_frames("many.run/trajectory.xyz", numpy.arange(3.0 * many).reshape(1, many, 3),
                 extra=":cluster:I:1", rows=[[(i,) for i in range(many)]])
    report("many.run", status=None)
    assert player_of("many.run/report.html")["groups"] == []


def test_periodic_cell():
    """a periodic cube is in the middle of the picture, with its edges"""
    make_run("made.run")
    write_frames("made.run/trajectory.xyz", numpy.array([[[1.0, 2, 3], [9.0, 9, 9], [4, 4, 4.0]]]),
                 comment='Lattice="10 0 0 0 10 0 0 0 10" Origin="1 1 1" pbc="T T T"')
    report("made.run", status=None)
    found = player_of("made.run/report.html")
    assert found["about"]["cell"] == "10" and found["radii"][0] == 5.0
    assert (found["middles"][0] == 6.0).all()


def test_thinning():
    """a long run and a large one are thinned, from the first frame to the last, and say so"""
    frames = 4500
    angle = numpy.linspace(0, 6, frames)
    make_run("long.run")
    path = numpy.stack([numpy.cos(angle), numpy.sin(angle), 0 * angle], axis=1)
    write_frames("long.run/trajectory.xyz", numpy.stack([path, -path, 0 * path], axis=1),
                 times=list(range(frames)))
    report("long.run", status=None)
    found = player_of("long.run/report.html")
    assert len(found["times"]) == 4000 and found["times"][0] == 0 and found["times"][-1] == 4499
    assert (numpy.diff(found["times"]) >= 1).all() and (numpy.diff(found["times"]) <= 2).all()
    assert "Shown are 3 of 3 bodies in 4000 of 4500 frames." in read("long.run/report.html")
    bodies = 250001
    make_run("large.run", bodies=3)
    with open("large.run/trajectory.xyz", "w") as file:
        file.write(f"{bodies}\nProperties=species:S:1:pos:R:3\n")
        file.writelines(f"X {i} {i % 7} 1\n" for i in range(bodies))
    report("large.run", status=None)
    found = player_of("large.run/report.html")
    assert (found["ids"] == 1 + 3 * numpy.arange(83334)).all()  # their places in the file
    assert "Shown are 83334 of 250001 bodies in 1 of 1 frames." in read("large.run/report.html")
    assert os.path.getsize("large.run/report.html") < 16e6


def test_hostile_numbers():
    """positions at the ends of double precision, and all at one point, make a page all the same"""
    for positions in ([[1e308, -1e308, 1e-308], [-1e308, 1e308, 0], [1, 1, 1]], [[2.5, 2, 1]] * 3):
        make_run("made.run")
        write_frames("made.run/trajectory.xyz", numpy.array([positions] * 2, float))
        report("made.run", "--plot", "energies", status=None)
        found = player_of("made.run/report.html")
        assert numpy.isfinite(found["positions"]).all()
        assert 0 < float(found["about"]["scale"]) <= float(found["about"]["limit"])
        for path in pathlib.Path("made.run").glob("**/*.*"):
            if path.is_file():
                path.unlink()
        os.rename("made.run", f"done-{positions[0][0]}")


def policy_of(page):
    """The policy of a page: nothing is loaded, and nothing runs but what a hash names."""
    policy = re.search(r'"Content-Security-Policy" content="([^"]*)"', page)[1]
    own = r"'sha256-[\w+/]{43}='"
    assert re.fullmatch(rf"default-src 'none'; script-src {own}( {own})?; style-src {own}; "
                        r"img-src data:; base-uri 'none'; form-action 'none'", policy), policy
    return policy


def test_without_a_player():
    """--no-player, and a comparison of runs: the script of the figures is the only one"""
    make_run("made.run")
    make_run("other.run", step=0.002)
    report("made.run", status=None)
    page = read("made.run/report.html")
    assert policy_of(page).startswith("default-src 'none'; script-src 'sha256-")
    assert page.count("<script") == 3 and policy_of(page).count("sha256") == 3
    for arguments, path in ((["made.run", "--no-player"], "made.run/report.html"),
                            (["made.run", "other.run", "-o", "both"], "both/report.html")):
        report(*arguments, status=None)
        page = read(path)
        assert page.count("<script") == 1 and 'id="player"' not in page, path
        assert policy_of(page).count("sha256") == 2, path
    os.unlink("other.run/trajectory.xyz")
    report("other.run", status=None)
    assert 'id="player"' not in read("other.run/report.html")


# Chromium's virtual time does not bring pictures to the screen by itself; timers it keeps.
TIMERS = """<head><script>
window.requestAnimationFrame = draw => setTimeout(draw, 16);
window.cancelAnimationFrame = clearTimeout;
</script>"""

# What a page does that is told to show frames, to play, and to name a body.
DRIVE = """<script>
const figure = document.getElementById('player'), canvas = figure.querySelector('canvas');
const rest = time => new Promise(done => setTimeout(done, time));
const until = async holds => {
    for (let k = 0; k < 500 && !holds(); k++)
        await rest(20);
};
const show = async frame => {
    of('[type=range]').value = frame;
    of('[type=range]').dispatchEvent(new Event('input'));
    await until(() => canvas.dataset.frame === String(frame));
};
const of = name => figure.querySelector(name);
canvas.setPointerCapture = () => {}; /* there is no finger */
const point = (kind, x, y) => canvas.dispatchEvent(
    new PointerEvent(kind, { pointerId: 1, clientX: x + canvas.getBoundingClientRect().left,
                             clientY: y + canvas.getBoundingClientRect().top }));
const key = key => canvas.dispatchEvent(new KeyboardEvent('keydown', { key }));
(async () => {
    const found = { pictures: {} };
    await until(() => figure.dataset.ready);
    found.first = canvas.dataset.frame;
    found.label = canvas.getAttribute('aria-label');
    of('[name=trails]').checked = false;
    for (const frame of [0, 3, 8]) {
        await show(frame);
        found.pictures[canvas.dataset.frame] = canvas.toDataURL('image/png');
    }
    found.size = [canvas.width, canvas.height];
    key('ArrowLeft');
    await until(() => canvas.dataset.frame === '7');
    found.left = canvas.dataset.frame;
    await show(4); /* which is four frames before the last */
    of('button').click();
    await until(() => of('button').textContent === 'Play');
    await until(() => canvas.dataset.frame === '8');
    found.played = canvas.dataset.frame;
    found.button = of('button').textContent;
    point('pointerdown', AT);
    point('pointerup', AT);
    await until(() => of('[value=body]'));
    found.views = [...of('[name=follow]').options].map(option => option.text);
    document.body.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
})();
</script></body>"""


def places(frame, size):
    """Where the pixels of the three bodies of make_run() are, as player.js projects them."""
    angle = 0.7 * numpy.arange(3) + 0.3 * frame
    r = 0.2 + numpy.arange(3) / 3
    x, y = r * numpy.cos(angle), r * numpy.sin(angle)
    x, y = x - x.mean(), y - y.mean()
    # The radius that holds all is the same in each frame: they turn about 0 together.
    per_length = min(size) / 2 / (1.1 * numpy.hypot(x, y).max())
    across = x * numpy.cos(0.5) + y * numpy.sin(0.5)
    away = y * numpy.cos(0.5) - x * numpy.sin(0.5)
    return numpy.stack([size[0] / 2 + per_length * across,
                        size[1] / 2 - per_length * away * numpy.sin(0.9)], axis=1)


def test_browser_shows_the_frames():
    """in Chromium: bodies where their frame says, the slider and the keys move them, a click names
    one; it plays to the end; the page's own policy lets it"""
    make_run("made.run")
    report("made.run", "--plot", "energies", status=None)
    dom = chromium("--dump-dom")
    assert 'data-ready="yes"' in dom and 'data-frame="8"' in dom
    assert re.search(r'<p class="problem" hidden="">', dom)
    page = re.sub("<meta http-equiv.*", "", read("made.run/report.html"))
    page = page.replace("<head>", TIMERS)
    size = (300, 188)  # of the canvas, if the page is as narrow as this
    page = page.replace("</style>", "#player canvas { width: 300px; height: 188px; }</style>")
    at = places(8, size)[1]
    pathlib.Path("driven.html").write_text(page.replace("</body>", DRIVE.replace(
        "AT", f"{at[0]:.1f}, {at[1]:.1f}")))
    dom = chromium("--dump-dom", "--virtual-time-budget=60000", page="driven.html")
    found = json.loads(base64.b64decode(re.search(r"<body>([\w+/=]+)", dom)[1]))
    assert found["first"] == "8" and found["size"] == list(size), found["size"]
    assert found["label"] == ("A drawing of 3 bodies in space that move through 9 frames, from "
                              "t = 0 to 4."), found["label"]
    colours = [numpy.array([int(colour[i:i + 2], 16) for i in (0, 2, 4)]) for colour in
               re.findall(r"--c[012]: #(\w{6})", page)[:3]]
    for frame, picture in found["pictures"].items():
        pathlib.Path("picture.png").write_bytes(base64.b64decode(picture.split(",")[1]))
        image = pixels("picture.png")
        coloured = image.max(axis=2) - image.min(axis=2) > 40  # words and axes are grey
        shown = places(int(frame), size)
        for (x, y), colour in zip(shown, colours):
            pixel = image[round(y), round(x)]
            part = (pixel - 255) @ (colour - 255) / ((colour - 255) @ (colour - 255))
            assert 0.4 < part < 1.05, (frame, x, y, pixel, part)
            assert abs(pixel - 255 - part * (colour - 255)).max() < 12, (frame, pixel, colour)
        rows, columns = numpy.nonzero(coloured)
        apart = numpy.hypot(columns[:, None] - shown[:, 0], rows[:, None] - shown[:, 1]).min(axis=1)
        assert len(rows) > 60 and apart.max() < 7, (frame, len(rows), apart.max())
    assert list(found["pictures"]) == ["0", "3", "8"], list(found["pictures"])
    assert found["left"] == "7" and found["played"] == "8" and found["button"] == "Play", (
        found["left"], found["played"], found["button"])
    assert found["views"][-1] == "follows body 2", found["views"]


tap.main()
