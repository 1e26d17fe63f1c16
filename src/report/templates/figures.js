/* The figures of a page: the number of a curve under the cursor, and curves that their name in the
 * key hides and shows. Without this script the figures are the same. */
(() => {
'use strict';
const NEAR = 40; /* units of a picture, 480 of them wide */
const paths = part => part.querySelectorAll('path, use, polygon');
const named = curve => curve.querySelector('text');

/* The value of a tick: "200", or "10" and the exponent "-6". */
function valueOf(text) {
    const parts = [...text.querySelectorAll('tspan')];
    const [base, exponent] = parts.map(part => part.textContent.trim());
    return exponent ? Math.sign(base) * Math.abs(base) ** exponent : Number(base ?? text.textContent);
}

/* A function from a position along an axis to the value there; null where ticks do not tell. */
function scaleOf(svg, anchor, along, kind) {
    const ticks = [...svg.querySelectorAll(`path + g[text-anchor=${anchor}]`)].map(tick => [
        Number(tick.previousElementSibling.getAttribute('d').match(/-?[\d.]+/g)[along]),
        valueOf(tick)]).filter(([at, value]) => isFinite(at) && isFinite(value));
    const [[low, first], [high, last]] = [ticks[0] ?? [0, 0], ticks.at(-1) ?? [0, 0]];
    if (low === high || kind === 'signed')
        return null;
    const between = (a, b) => at => a + (at - low) / (high - low) * (b - a);
    const log = between(Math.log(first), Math.log(last));
    return kind === 'log' ? at => Math.exp(log(at)) : between(first, last);
}

/* The points of a curve, without the sample in the key. */
function pointsOf(curve) {
    const numbers = [...curve.querySelectorAll('path')].flatMap(
        path => path.getAttribute('d').match(/-?[\d.]+/g) ?? []).map(Number);
    const uses = [...curve.querySelectorAll('use')].map(
        use => use.getAttribute('transform').match(/-?[\d.]+/g).slice(0, 2).map(Number));
    const points = numbers.flatMap((x, k) => k % 2 ? [] : [[x, numbers[k + 1]]]);
    return [...points.slice(named(curve) ? 2 : 0), ...uses.slice(named(curve) ? 1 : 0)];
}

function prepare(figure) {
    const svg = figure.querySelector('svg'), all = [...svg.querySelectorAll('.curve')];
    const about = svg.dataset;
    const [, name, unit] = about.label.match(/^(.*?)(?: \[(.*)\])?$/s);
    const shown = document.createElementNS(svg.namespaceURI, 'text');
    let x, y, points; /* known once the cursor is in the picture */
    shown.setAttribute('class', 'value');
    svg.append(shown);
    svg.addEventListener('pointerleave', () => { shown.textContent = ''; });
    svg.addEventListener('pointermove', event => {
        if (!points) {
            x = scaleOf(svg, 'middle', 0, about.x), y = scaleOf(svg, 'end', 1, about.y);
            points = new Map(x && y ? all.map(curve => [curve, pointsOf(curve)]) : []);
        }
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(
            svg.getScreenCTM().inverse());
        let best = NEAR, found = null;
        for (const [curve, places] of points)
            for (const place of curve.classList.contains('off') ? [] : places) {
                const distance = Math.hypot(place[0] - at.x, place[1] - at.y);
                if (distance < best)
                    [best, found] = [distance, place];
            }
        const words = found?.map((part, k) => Number((k ? y : x)(part).toPrecision(4)));
        const along = found && `${name} = ${words[0]}${unit ? ' ' + unit : ''}`;
        shown.textContent = found ? `${along}: ${words[1]}` : '';
        const left = at.x < 240;
        shown.setAttribute('text-anchor', left ? 'start' : 'end');
        shown.setAttribute('x', at.x + (left ? 12 : -12));
        shown.setAttribute('y', at.y - 10);
    });
    for (const curve of all.filter(named)) {
        const key = named(curve), kind = curve.getAttribute('class'); /* of its band as well */
        const same = all.filter(other => other === curve ||
            (!named(other) && other.getAttribute('class') === kind));
        const turn = event => {
            if (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ')
                return;
            event.preventDefault();
            const off = !curve.classList.contains('off');
            same.forEach(part => part.classList.toggle('off', off));
            key.setAttribute('aria-pressed', !off);
        };
        key.setAttribute('tabindex', 0), key.setAttribute('role', 'button');
        key.setAttribute('aria-pressed', true);
        key.addEventListener('click', turn), key.addEventListener('keydown', turn);
    }
}

document.querySelectorAll('.figures figure').forEach(prepare);
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(part => {
    part.open = true;
}));
})();
