// SPDX-License-Identifier: MIT
// Paints the calls of a game (client/web/web.h, web_call) on a canvas, as the client's window does: upright edges lie
// on whole pixels, round and slanted ones fade.

const FONT = '"DejaVu Sans", Verdana, Bitstream Vera Sans, sans-serif';
const EM = 0.859; // of a text's height, which is from the top of the highest letter to the lowest end
const BASELINE = 0.8;
const LETTER_COUNT = 224;
const LETTER_PIXELS_MIN = 4;
const PLACES = 8; // that are tried for a text
const SHARP_SCALE_MIN = 2; // an image that is enlarged so far shows its pixels
const SMALL_AREA = 3; // pixels of a triangle in which nobody sees a gradient
const FAN_CORNERS_MIN = 12;
const RECT = 1, CIRCLE = 2, LINE = 3, TRIANGLES = 4, TEXT = 5, SPRITE = 6, CAMERA = 7;
const FAR = 1e6; // farther pixels cannot be seen

/// Widths of letters in heights, or null where nothing can measure.
export function letterWidths(first) {
    const canvas = typeof OffscreenCanvas !== "undefined" ? new OffscreenCanvas(1, 1)
        : typeof document !== "undefined" ? document.createElement("canvas") : null;
    const context = canvas?.getContext("2d");
    if (!context) return null;
    context.font = `100px ${FONT}`;
    return Float32Array.from({length: LETTER_COUNT},
        (_, i) => context.measureText(String.fromCharCode(first + i)).width * EM / 100);
}

const colors = new Map();
function css(color) {
    let text = colors.get(color);
    if (text) return text;
    text = `rgba(${color & 255},${(color >> 8) & 255},${(color >> 16) & 255},${((color >>> 24) / 255).toFixed(4)})`;
    if (colors.size > 10000) colors.clear();
    colors.set(color, text);
    return text;
}

const alpha = (color) => color >>> 24;
const within = (pixels) => (pixels > -FAR ? Math.min(pixels, FAR) : -FAR); // NaN too
const snap = (pixels) => Math.floor(pixels + 0.5);

// Twice the area; below 0 when the corners go round the other way.
function turn([a, b, c]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// As much of a color as its corner can be seen.
function mean(a, b, c) {
    const all = alpha(a) + alpha(b) + alpha(c) || 1;
    const channel = (at) => [a, b, c].reduce((sum, color) => sum + ((color >> at) & 255) * alpha(color), 0) / all & 255;
    return (channel(0) | (channel(8) << 8) | (channel(16) << 16) | (Math.floor(all / 3) << 24)) >>> 0;
}

class Painter {
    constructor(context, words, placed, images, textPixels) {
        this.context = context;
        this.words = words;
        this.floats = new Float32Array(words.buffer, words.byteOffset, words.length);
        this.placed = this.own = placed;
        this.images = images;
        this.textPixels = textPixels;
        this.texts = []; // those that were placed
        this.fill = -1;
        this.at = 0;
    }

    x(value) {
        return within(this.placed.left + value * this.placed.scale);
    }

    y(value) {
        return within(this.placed.top + value * this.placed.scale);
    }

    camera() {
        const {floats: f, at, own} = this;
        this.at += 3;
        this.placed = {left: own.left + f[at] * own.scale, top: own.top + f[at + 1] * own.scale, scale: own.scale * f[at + 2]};
    }

    setFill(color) {
        if (color === this.fill) return;
        this.context.fillStyle = css(color);
        this.fill = color;
    }

    box(left, top, right, bottom) {
        left = snap(left);
        top = snap(top);
        this.context.fillRect(left, top, Math.max(snap(right) - left, 1), Math.max(snap(bottom) - top, 1));
    }

    rect() {
        const {floats: f, at} = this, color = this.words[at];
        const x = f[at + 1], y = f[at + 2], width = f[at + 3], height = f[at + 4];
        this.at += 5;
        if (alpha(color) === 0 || !(width > 0) || !(height > 0)) return;
        this.setFill(color);
        this.box(this.x(x), this.y(y), this.x(x + width), this.y(y + height));
    }

    circle() {
        const {floats: f, at, context} = this, color = this.words[at], radius = within(f[at + 3] * this.placed.scale);
        this.at += 4;
        if (alpha(color) === 0 || !(radius > 0)) return;
        this.setFill(color);
        context.beginPath();
        context.arc(this.x(f[at + 1]), this.y(f[at + 2]), radius, 0, 2 * Math.PI);
        context.fill();
    }

    line() {
        const {floats: f, at, context} = this, color = this.words[at];
        const x0 = this.x(f[at + 1]), y0 = this.y(f[at + 2]), x1 = this.x(f[at + 3]), y1 = this.y(f[at + 4]);
        const width = within(f[at + 5] * this.placed.scale);
        this.at += 6;
        if (alpha(color) === 0 || !(width > 0) || (x0 === x1 && y0 === y1)) return;
        if (x0 === x1 || y0 === y1) {
            const thickX = x0 === x1 ? width / 2 : 0, thickY = x0 === x1 ? 0 : width / 2;
            this.setFill(color);
            this.box(Math.min(x0, x1) - thickX, Math.min(y0, y1) - thickY, Math.max(x0, x1) + thickX, Math.max(y0, y1) + thickY);
            return;
        }
        const seen = width < 1 ? ((color & 0xffffff) | (Math.floor(alpha(color) * width) << 24)) >>> 0 : color;
        context.strokeStyle = css(seen);
        context.lineWidth = Math.max(width, 1);
        context.beginPath();
        context.moveTo(x0, y0);
        context.lineTo(x1, y1);
        context.stroke();
    }

    // Two triangles that are an upright box with the same color along its upper and its lower edge.
    upright(points, tints) {
        const {floats: f, words} = this;
        let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
        for (let i = 0; i < 6; i++) {
            left = Math.min(left, f[points + i * 2]);
            right = Math.max(right, f[points + i * 2]);
            top = Math.min(top, f[points + i * 2 + 1]);
            bottom = Math.max(bottom, f[points + i * 2 + 1]);
        }
        const corners = [0, 0], sides = [null, null];
        for (let i = 0; i < 6; i++) {
            const x = f[points + i * 2], y = f[points + i * 2 + 1], side = y === bottom ? 1 : 0, color = words[tints + i];
            if ((x !== left && x !== right) || (y !== top && y !== bottom)) return false;
            corners[i < 3 ? 0 : 1] |= 1 << ((x === right ? 1 : 0) + 2 * side);
            if (sides[side] !== null && sides[side] !== color) return false;
            sides[side] = color;
        }
        const shared = corners[0] & corners[1];
        if (!(left < right) || !(top < bottom) || (corners[0] | corners[1]) !== 15 || (shared !== 6 && shared !== 9))
            return false;
        const y0 = this.y(top), y1 = this.y(bottom);
        if (sides[0] === sides[1]) this.setFill(sides[0]);
        else this.setGradient(sides[0], sides[1], this.context.createLinearGradient(0, y0, 0, y1));
        this.box(this.x(left), y0, this.x(right), y1);
        return true;
    }

    setGradient(from, to, gradient) {
        // Where one end cannot be seen, only the other one has a color.
        const clear = (color, other) => (alpha(color) === 0 ? other & 0xffffff : color);
        gradient.addColorStop(0, css(clear(from, to)));
        gradient.addColorStop(1, css(clear(to, from)));
        this.context.fillStyle = gradient;
        this.fill = -1;
    }

    // Where two corners have one color, a gradient from their side to the third corner is exact.
    setTriangle(a, b, c, place) {
        if (a === b && b === c) return this.setFill(a);
        if (Math.abs(turn(place)) < SMALL_AREA * 2) return this.setFill(mean(a, b, c));
        const single = a === b ? 2 : a === c ? 1 : b === c ? 0 : -1;
        if (single < 0) return this.setFill(mean(a, b, c));
        const p = place[single], q = place[(single + 1) % 3], r = place[(single + 2) % 3];
        const dx = r[0] - q[0], dy = r[1] - q[1], length = dx * dx + dy * dy;
        if (!(length > 0)) return this.setFill(a);
        const along = ((p[0] - q[0]) * dx + (p[1] - q[1]) * dy) / length;
        const tints = [a, b, c];
        return this.setGradient(tints[(single + 1) % 3], tints[single],
            this.context.createLinearGradient(q[0] + dx * along, q[1] + dy * along, p[0], p[1]));
    }

    triangles() {
        const {floats: f, words, context} = this, count = words[this.at];
        const points = this.at + 1, tints = points + count * 2;
        this.at = tints + count;
        let open = -1; // color of the path that is begun
        const close = () => {
            if (open !== -1) context.fill();
            open = -1;
        };
        for (let i = 0; i + 3 <= count;) {
            if (i + 6 <= count && this.isBoxLike(points + i * 2) && (close(), this.upright(points + i * 2, tints + i))) {
                i += 6;
                continue;
            }
            const fan = this.fan(points, tints, i, count);
            if (fan > 0) {
                close();
                i += fan;
                continue;
            }
            const place = [0, 1, 2].map((k) => [this.x(f[points + (i + k) * 2]), this.y(f[points + (i + k) * 2 + 1])]);
            const [a, b, c] = [words[tints + i], words[tints + i + 1], words[tints + i + 2]];
            i += 3;
            if (alpha(a) + alpha(b) + alpha(c) === 0) continue;
            const isFlat = a === b && b === c;
            if (!isFlat || open !== a) {
                close();
                this.setTriangle(a, b, c, place);
                context.beginPath();
            }
            open = isFlat ? a : -2;
            this.addTriangle(place);
            if (!isFlat) close();
        }
        close();
    }

    // Triangles around one point whose rim is a circle of one color: one gradient from the point outwards.
    // @return their corners; 0: they are something else.
    fan(points, tints, first, count) {
        const {floats: f, words: w, context} = this, at = points + first * 2, color = tints + first;
        const inner = w[color], outer = w[color + 1], x = f[at], y = f[at + 1];
        if (inner === outer || w[color + 2] !== outer) return 0;
        const radius = Math.hypot(f[at + 2] - x, f[at + 3] - y);
        let corners = 0;
        for (let i = 0; first + i + 3 <= count; i += 3) {
            const p = at + i * 2, c = color + i;
            if (f[p] !== x || f[p + 1] !== y || w[c] !== inner || w[c + 1] !== outer || w[c + 2] !== outer) break;
            const off = Math.abs(Math.hypot(f[p + 2] - x, f[p + 3] - y) - radius) + Math.abs(Math.hypot(f[p + 4] - x, f[p + 5] - y) - radius);
            if (!(off < radius * 0.02)) break;
            corners += 3;
        }
        if (corners < FAN_CORNERS_MIN) return 0;
        const middle = [this.x(x), this.y(y)];
        this.setGradient(inner, outer, context.createRadialGradient(...middle, 0, ...middle, within(radius * this.placed.scale)));
        context.beginPath();
        for (let i = 0; i < corners; i += 3)
            this.addTriangle([0, 2, 4].map((k) => [this.x(f[at + i * 2 + k]), this.y(f[at + i * 2 + k + 1])]));
        context.fill();
        return corners;
    }

    // A first look, which is cheap: are the sides of the first triangle upright?
    isBoxLike(points) {
        const f = this.floats;
        const xs = [f[points], f[points + 2], f[points + 4]], ys = [f[points + 1], f[points + 3], f[points + 5]];
        return new Set(xs).size === 2 && new Set(ys).size === 2;
    }

    // All go round the same way: where two overlap the path has no hole.
    addTriangle(place) {
        const {context} = this, [a, b, c] = place;
        const [second, third] = turn(place) < 0 ? [c, b] : [b, c];
        context.moveTo(a[0], a[1]);
        context.lineTo(second[0], second[1]);
        context.lineTo(third[0], third[1]);
        context.closePath();
    }

    // The text at a place of the words: its bytes, then as many as fill the last word.
    readText(at) {
        const size = this.words[at];
        const bytes = new Uint8Array(this.words.buffer, this.words.byteOffset + (at + 1) * 4, size);
        this.at = at + 1 + Math.ceil(size / 4);
        return new TextDecoder().decode(bytes);
    }

    text() {
        const {floats: f, at, context} = this, color = this.words[at], height = within(f[at + 3] * this.placed.scale);
        let x = this.x(f[at + 1]), y = this.y(f[at + 2]);
        const text = this.readText(at + 4);
        if (alpha(color) === 0 || !(height >= LETTER_PIXELS_MIN)) return;
        this.setFill(color);
        context.font = `${(height * EM).toFixed(2)}px ${FONT}`;
        if (height < this.textPixels + 0.5) [x, y] = this.place(x, y, context.measureText(text).width, height);
        context.fillText(text, x, snap(y) + height * BASELINE);
    }

    // Of a text that was made higher: within the picture, and beside those before it, towards the middle.
    place(x, y, width, height) {
        const {left, top, width: across, height: down} = this.own.clip, step = y < top + down / 2 ? height : -height;
        x = Math.max(Math.min(x, left + across - width), left);
        const isTaken = (at) => this.texts.some((other) => Math.abs(other.y - at) < height * 0.9 && other.x < x + width && x < other.x + other.width);
        for (let i = 0; i < PLACES && isTaken(y); i++) y += step;
        this.texts.push({x, y, width});
        return [x, y];
    }

    sprite() {
        const {floats: f, words: w, at, context} = this;
        const tint = w[at] === 0 ? 0xffffffff : w[at];
        const name = this.readText(at + 14);
        const image = this.images.get(name);
        const sheet = {width: f[at + 11] || image?.width || 16, height: f[at + 12] || image?.height || 16};
        const columns = Math.max(w[at + 6], 1), rows = Math.max(w[at + 7], 1), frame = w[at + 8] % (columns * rows);
        const part = {width: sheet.width / columns, height: sheet.height / rows};
        part.x = f[at + 9] + (frame % columns) * part.width;
        part.y = f[at + 10] + Math.floor(frame / columns) * part.height;
        let width = f[at + 3], height = f[at + 4];
        if (!(width > 0) && !(height > 0)) [width, height] = [part.width, part.height];
        else if (!(width > 0)) width = height * part.width / part.height;
        else if (!(height > 0)) height = width * part.height / part.width;
        width *= this.placed.scale;
        height *= this.placed.scale;
        if (alpha(tint) === 0 || !(width > 0) || !(height > 0) || !(width < FAR) || !(height < FAR)) return;
        context.save();
        context.translate(this.x(f[at + 1]), this.y(f[at + 2]));
        context.rotate(Number.isFinite(f[at + 5]) ? f[at + 5] : 0);
        context.scale(w[at + 13] & 1 ? -1 : 1, w[at + 13] & 2 ? -1 : 1);
        if (image) {
            context.globalAlpha = alpha(tint) / 255;
            context.imageSmoothingEnabled = width < part.width * SHARP_SCALE_MIN || height < part.height * SHARP_SCALE_MIN;
            context.drawImage(tinted(image, tint), part.x, part.y, part.width, part.height, -width / 2, -height / 2, width, height);
        } else {
            missing(context, width, height);
        }
        context.restore();
    }
}

// A picture that is missing or damaged: squares of two colors.
function missing(context, width, height) {
    for (let i = 0; i < 16; i++) {
        context.fillStyle = (i + (i >> 2)) & 1 ? "#ff00ff" : "#202020";
        context.fillRect((i % 4 - 2) * width / 4, ((i >> 2) - 2) * height / 4, width / 4, height / 4);
    }
}

const tints = new WeakMap();
function tinted(image, tint) {
    const color = tint & 0xffffff;
    if (color === 0xffffff) return image;
    if (!tints.has(image)) tints.set(image, new Map());
    const made = tints.get(image);
    if (made.has(color)) return made.get(color);
    if (made.size > 64) made.clear();
    const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    context.globalCompositeOperation = "multiply";
    context.fillStyle = css((color | 0xff000000) >>> 0);
    context.fillRect(0, 0, image.width, image.height);
    context.globalCompositeOperation = "destination-in";
    context.drawImage(image, 0, 0);
    made.set(color, canvas);
    return canvas;
}

/// Paint calls; texts that are no higher than `textPixels` do not lie on each other. `placed` is of Game.place, `images` are bitmaps by name.
export function paint(context, words, placed, images, textPixels = 0) {
    const painter = new Painter(context, words, placed, images, textPixels);
    const kinds = {[RECT]: "rect", [CIRCLE]: "circle", [LINE]: "line", [TRIANGLES]: "triangles", [TEXT]: "text", [SPRITE]: "sprite", [CAMERA]: "camera"};
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.beginPath();
    context.rect(placed.clip.left, placed.clip.top, placed.clip.width, placed.clip.height);
    context.clip();
    context.fillStyle = "#000";
    context.fillRect(placed.clip.left, placed.clip.top, placed.clip.width, placed.clip.height);
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    while (painter.at < words.length) {
        const kind = kinds[words[painter.at++]];
        if (!kind) break;
        painter[kind]();
    }
    context.restore();
}
