"""Draws a result of validation/gpu/run: rates over the number of bodies, with those of other
programs and of the host's CPU cores.

    python3 validation/gpu/figure.py docs/performance/gpu-DEVICE.json    # writes .svg beside it
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

COLORS = {"single": "#1b6ca8", "mixed": "#2e8b57", "double": "#b5452c"}
LINES = {"tiled": ":", "blocked": "--", "symmetric": "-"}


def curves(result):
    """{(kernel, precision): ([bodies], [10^9 pairs per second])} of the sums over sizes."""
    found = {}
    for row in result["bench"]["rows"]:
        if row["part"] == "sizes" and not row["skipped"]:
            counts, rates = found.setdefault((row["label"], row["precision"]), ([], []))
            counts.append(row["count"])
            rates.append(row["rate"] / 1e9)
    return found


def peers(result):
    """The same for other programs: the best of their kernels, and the higher of its two rates."""
    best = {}
    for row in result.get("peers", []):
        key = row["title"].split()[0], row["precision"], row["count"]
        best[key] = max([best.get(key, 0), *row["said"], *row["kernel"]])
    found = {}
    for (title, precision, count), rate in best.items():
        if title != "orrery" and rate > 0:
            counts, rates = found.setdefault((title, precision), ([], []))
            counts.append(count)
            rates.append(rate / 1e9)
    return found


def draw(result):
    pyplot.rcParams.update({"svg.hashsalt": "orrery", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(7.2, 4.4), layout="constrained")
    for (kernel, precision), (counts, rates) in curves(result).items():
        axes.loglog(counts, rates, LINES.get(kernel, "-."), color=COLORS[precision],
                    label=f"{kernel}, {precision}")
    for marker, ((title, precision), (counts, rates)) in zip("osD^vPX", peers(result).items()):
        axes.loglog(counts, rates, marker, color=COLORS[precision], fillstyle="none",
                    label=f"{title}, {precision}")
    cpu = result["bench"]["cpu"]
    axes.loglog([row["count"] for row in cpu], [row["rate"] / 1e9 for row in cpu], color="0.5",
                label=f"{result['host']['cores']} cores of the host, single")
    axes.set_xlabel("bodies")
    axes.set_ylabel("10⁹ ordered pairs per second")
    axes.set_title(f"{result['device']['device']}, {result['date'][:10]}")
    axes.grid(color="0.9")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def main():
    path = pathlib.Path(sys.argv[1])
    figure = draw(json.loads(path.read_text(encoding="utf-8")))
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})


main()
