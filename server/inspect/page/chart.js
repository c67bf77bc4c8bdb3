// SPDX-License-Identifier: MIT
// Lines and stacked areas over time, on a canvas. Values are arrays, newest last; a chart draws only when it was given
// something, is in sight, and at most once a frame.

let palette = null;
export function colours() {
    if (palette) return palette;
    const probe = document.body.appendChild(document.createElement("i"));
    const of = (name) => {
        probe.style.color = `var(--${name})`;
        return getComputedStyle(probe).color;
    };
    palette = { data: Array.from({ length: 8 }, (_, i) => of("d" + i)) };
    for (const name of ["line", "line-strong", "ink", "soft", "faint", "accent", "panel", "bg", "raise", "warn", "bad", "ok", "wash"])
        palette[name.replace("-strong", "Strong")] = of(name);
    probe.remove();
    return palette;
}
export const forgetColours = () => { palette = null; for (const chart of alive) chart.draw(); };
const alive = new Set();

// Fits the canvas to its box and the screen's pixels. @return the context, scaled so that units are CSS pixels.
export function fit(canvas) {
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, width, height };
}

let tip = null;
export function showTip(event, text) {
    if (!tip) {
        tip = document.createElement("div");
        tip.className = "hover-tip";
        document.body.append(tip);
    }
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), y = event.clientY + 16;
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = (y + tip.offsetHeight > innerHeight - 8 ? event.clientY - tip.offsetHeight - 10 : y) + "px";
}

const nice = (top) => { // the next of 1, 2, 2.5, 5 times a power of ten
    const power = 10 ** Math.floor(Math.log10(top));
    return [1, 2, 2.5, 5, 10].find((step) => step * power >= top) * power;
};

// options: {series: [{name, colour (number of the palette, or a name of colours())}], stacked, limit: {value, text}, format,
//           spark: true for no axes, length: values across, every_s: between two values, least: smallest top}
export class Chart {
    #data = []; #frame = 0; #hover = -1;
    constructor(canvas, options) {
        this.canvas = canvas;
        this.options = { length: 60, every_s: 1, format: String, least: 1, ...options };
        this.sizes = new ResizeObserver(() => this.draw());
        this.sizes.observe(canvas);
        alive.add(this);
        if (this.options.spark) return;
        canvas.addEventListener("pointermove", (event) => this.#point(event));
        canvas.addEventListener("pointerleave", () => { this.#hover = -1; showTip(null, ""); this.draw(); });
    }
    close() { this.sizes.disconnect(); alive.delete(this); cancelAnimationFrame(this.#frame); }
    set(data) { this.#data = data; this.draw(); }
    draw() {
        this.#frame ||= requestAnimationFrame(() => { this.#frame = 0; if (this.canvas.isConnected && this.canvas.clientWidth) this.#paint(); });
    }
    #colour(i) {
        const wanted = this.options.series[i].colour ?? i;
        return typeof wanted === "number" ? colours().data[wanted % 8] : colours()[wanted];
    }
    #sums() { // stacked: each series on top of those before it
        if (!this.options.stacked) return this.#data;
        const sums = [];
        for (const values of this.#data) sums.push(values.map((value, i) => value + (sums.at(-1)?.[i] ?? 0)));
        return sums;
    }
    #paint() {
        const { context: c, width, height } = fit(this.canvas), { spark, limit, length } = this.options, colour = colours();
        const sums = this.#sums(), count = sums[0]?.length ?? 0;
        let top = Math.max(this.options.least, ...sums.map((values) => values.reduce((a, b) => b > a ? b : a, 0)));
        if (limit && limit.value < top * 3) top = Math.max(top, limit.value * 1.08);
        top = spark ? top * 1.1 : nice(top);
        const box = spark ? { x: 0, y: 2, w: width, h: height - 2 } : { x: 62, y: 8, w: width - 66, h: height - 28 };
        const x = (i) => box.x + box.w * (length - count + i) / Math.max(1, length - 1), y = (v) => box.y + box.h * (1 - v / top);
        this.box = { ...box, count, x, sums };
        c.font = "11px " + getComputedStyle(this.canvas).fontFamily;
        if (!spark) this.#axes(c, box, top, colour);
        const order = this.options.stacked ? [...sums.keys()].reverse() : [...sums.keys()];
        for (const i of order) this.#one(c, sums, i, x, y, box);
        if (limit && limit.value <= top && !spark) this.#limit(c, box, y(limit.value), colour);
        if (this.#hover >= 0 && this.#hover < count) {
            c.fillStyle = colour.faint;
            c.fillRect(Math.round(x(this.#hover)), box.y, 1, box.h);
        }
    }
    #axes(c, box, top, colour) {
        c.textBaseline = "middle";
        c.textAlign = "right";
        for (const part of [0, 0.5, 1]) {
            const at = Math.round(box.y + box.h * (1 - part));
            c.fillStyle = colour.line;
            c.fillRect(box.x, at, box.w, 1);
            c.fillStyle = colour.faint;
            c.fillText(this.options.format(top * part), box.x - 8, at);
        }
        const whole = (this.options.length - 1) * this.options.every_s;
        c.textBaseline = "alphabetic";
        for (const part of [0, 0.5, 1]) {
            c.textAlign = ["left", "center", "right"][part * 2];
            c.fillText(part === 1 ? "now" : `−${Math.round(whole * (1 - part))} s`, box.x + box.w * part, box.y + box.h + 16);
        }
    }
    #limit(c, box, at, colour) {
        c.strokeStyle = c.fillStyle = colour.bad;
        c.setLineDash([4, 4]);
        c.beginPath();
        c.moveTo(box.x, at);
        c.lineTo(box.x + box.w, at);
        c.stroke();
        c.setLineDash([]);
        c.textAlign = "left";
        c.fillText(this.options.limit.text, box.x + 6, at - 5);
    }
    #one(c, sums, i, x, y, box) {
        const values = sums[i], under = this.options.stacked ? sums[i - 1] : null, filled = this.options.stacked || this.options.spark;
        if (!values.length) return;
        c.beginPath();
        values.forEach((value, k) => c.lineTo(x(k), y(value)));
        c.strokeStyle = this.#colour(i);
        c.lineWidth = 1.5;
        c.lineJoin = "round";
        c.stroke();
        if (!filled) return;
        for (let k = values.length - 1; k >= 0; k--) c.lineTo(x(k), under ? y(under[k]) : box.y + box.h);
        c.closePath();
        c.globalAlpha = this.options.stacked ? 0.5 : 0.14;
        c.fillStyle = this.#colour(i);
        c.fill();
        c.globalAlpha = 1;
    }
    #point(event) {
        if (!this.box?.count) return;
        const inside = event.offsetX - this.box.x, { length, every_s, series, format } = this.options;
        const i = Math.round(inside / this.box.w * (length - 1)) - (length - this.box.count);
        this.#hover = i >= 0 && i < this.box.count ? i : -1;
        const lines = series.map((each, k) => `${each.name}  ${format(this.#data[k]?.[i] ?? 0)}`);
        showTip(event, this.#hover < 0 ? "" : [`${Math.round((this.box.count - 1 - i) * every_s)} s ago`, ...lines].join("\n"));
        this.draw();
    }
}
