// SPDX-License-Identifier: MIT
// Elements, figures as text, and tables. The page's policy allows no style attributes: widths are set by properties.

// h("div", {class: "card", onclick: f}, "text", element, [more]): null and false are left out.
export function h(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
        else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

export function icon(name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", "#i-" + name);
    svg.append(use);
    return svg;
}

// Writes only what differs: an equal text costs no layout.
export function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
    return element;
}

export const card = (title, span, ...body) => h("section", { class: "card " + (span ?? ""), "aria-label": typeof title === "string" ? title : null },
    title && h("header", null, typeof title === "string" ? h("h2", null, title) : title), body);
export const empty = (title, text) => h("div", { class: "empty" }, h("b", null, title), text);
export const swatch = (n) => h("i", { class: `swatch d${n % 8}` });
export const pill = (text, kind) => h("span", { class: "pill " + (kind ?? "") }, text);

export function bar(share, title) {
    const inner = h("i");
    inner.style.width = Math.min(100, Math.max(0, share * 100)) + "%";
    return h("span", { class: "bar", title }, inner);
}

export function facts(pairs) { // [[name, text or element or null]]: null is left out
    return h("dl", { class: "facts" }, pairs.filter((pair) => pair[1] !== null && pair[1] !== undefined && pair[1] !== "")
        .map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

export function segments(options, chosen, choose, label) { // options: [[value, text]]
    const buttons = options.map(([value, text]) => h("button", { type: "button", "aria-pressed": String(value === chosen), onclick: () => set(value, true) }, text));
    function set(value, tell) {
        buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i][0] === value)));
        if (tell) choose(value);
    }
    return Object.assign(h("div", { class: "segments", role: "group", "aria-label": label }, buttons), { set });
}

// Keeps a <select>'s options equal to [[value, text]], and its choice.
export function fill(select, options, chosen) {
    const key = JSON.stringify(options);
    if (select.dataset.key !== key) {
        select.dataset.key = key;
        select.replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
    }
    if (chosen !== undefined && document.activeElement !== select) select.value = String(chosen);
    return select;
}

export function copy(text) {
    return navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error("This browser copies only from https or localhost."));
}

// Figures. 64-bit numbers come as text.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const count = (n) => n === null || n === undefined ? "–" : whole.format(typeof n === "string" ? BigInt(n) : n);
export function fixed(n, digits) { return n === null || n === undefined || Number.isNaN(n) ? "–" : n.toFixed(digits); }
function scaled(n, units, step) {
    let unit = 0;
    while (Math.abs(n) >= step - 0.5 && unit < units.length - 1) { n /= step; unit++; }
    const digits = unit === 0 && Number.isInteger(n) ? 0 : Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2;
    return [n.toFixed(digits), units[unit]];
}
const joined = (parts) => parts.join(" ");
export const bytes = (n) => n === null || n === undefined ? "–" : joined(scaled(Number(n), ["B", "kB", "MB", "GB", "TB"], 1000));
export const rate = (n) => n === null || n === undefined ? "–" : joined(scaled(Number(n), ["B/s", "kB/s", "MB/s", "GB/s"], 1000));
export const micros = (n) => n === null || n === undefined ? "–" : joined(scaled(Number(n), ["µs", "ms", "s"], 1000));
export const percent = (n, digits = 1) => n === null || n === undefined ? "–" : (n * 100).toFixed(digits) + " %";
export const parts = { micros: (n) => scaled(Number(n), ["µs", "ms", "s"], 1000), rate: (n) => scaled(Number(n), ["B/s", "kB/s", "MB/s", "GB/s"], 1000) };
export function duration(s) {
    if (s === null || s === undefined) return "–";
    s = Math.floor(s);
    const two = (n) => String(n).padStart(2, "0");
    const d = Math.floor(s / 86400), hour = Math.floor(s / 3600) % 24, minute = Math.floor(s / 60) % 60;
    return d ? `${d} d ${hour} h` : hour ? `${hour}:${two(minute)}:${two(s % 60)}` : `${minute}:${two(s % 60)}`;
}
export const number = (n) => typeof n !== "number" || Number.isInteger(n) ? String(n) : String(Math.abs(n) >= 0.01 ? +n.toFixed(3) : +n.toPrecision(3));

// A table that keeps 1,000 rows cheap: all rows have one height, and only those in sight are elements.
//   columns: [{name, title, of(row) -> text or element, by(row) -> what sorts, number, hint, hides}]
//   options: {key(row), onpick(row), chosen(row) -> bool, faded(row), sort: "name" or "-name", onsort(name), none: element}
export class Table {
    #rows = []; #shown = []; #columns; #options; #body; #head; #cache = new Map(); #frame = 0; #height = 30;
    constructor(columns, options = {}) {
        this.#options = { key: (row) => row, ...options };
        this.#head = h("tr");
        this.#body = h("tbody");
        this.element = h("div", { class: "table" }, h("table", null, h("thead", null, this.#head), this.#body));
        this.element.addEventListener("scroll", () => this.#later(), { passive: true });
        this.#body.addEventListener("click", (event) => this.#pick(event.target));
        this.#body.addEventListener("keydown", (event) => this.#key(event));
        new ResizeObserver(() => this.#later()).observe(this.element);
        this.columns(columns);
    }
    columns(columns) {
        this.#columns = columns;
        this.#cache.clear();
        const sort = this.#options.sort ?? "";
        this.#head.replaceChildren(...columns.map((column) => h("th", {
            class: column.number ? "number" : null, title: column.hint, scope: "col",
            "aria-sort": sort === column.name ? "ascending" : sort === "-" + column.name ? "descending" : null,
        }, column.by ? h("button", { type: "button", onclick: () => this.sort(column.name) }, column.title) : column.title)));
        this.#later();
    }
    sort(name) {
        const first = this.#columns.find((column) => column.name === name)?.number ? "-" : "";
        const now = this.#options.sort;
        this.#options.sort = now === first + name ? (first ? name : "-" + name) : first + name;
        this.#options.onsort?.(this.#options.sort);
        this.columns(this.#columns);
        this.rows(this.#rows);
    }
    rows(rows) {
        this.#rows = rows;
        const sort = this.#options.sort ?? "", column = this.#columns.find((each) => each.name === sort.replace("-", ""));
        if (column?.by) {
            const way = sort.startsWith("-") ? -1 : 1;
            const values = new Map(rows.map((row) => [row, column.by(row)]));
            rows = [...rows].sort((a, b) => {
                const [x, y] = [values.get(a), values.get(b)];
                return way * (typeof x === "string" || typeof y === "string" ? String(x).localeCompare(String(y), "en", { numeric: true }) : (x ?? -Infinity) - (y ?? -Infinity));
            });
        }
        this.#shown = rows;
        this.#later();
    }
    refresh() { this.#later(); }
    #later() {
        this.#frame ||= requestAnimationFrame(() => { this.#frame = 0; this.#draw(); });
    }
    #draw() {
        const total = this.#shown.length;
        if (total === 0) {
            this.#cache.clear();
            const none = this.#options.none ?? "nothing to show";
            this.#body.replaceChildren(h("tr", { class: "gap" }, h("td", { colspan: this.#columns.length }, typeof none === "string" ? h("div", { class: "empty" }, none) : none)));
            return;
        }
        const limit = this.element.clientHeight || 600;
        const first = Math.max(0, Math.floor(this.element.scrollTop / this.#height) - 6);
        const last = Math.min(total, first + Math.ceil(limit / this.#height) + 14);
        const rows = [], cache = new Map();
        for (let i = first; i < last; i++) rows.push(this.#row(this.#shown[i], cache));
        this.#cache = cache;
        const wanted = [this.#gap(first), ...rows, this.#gap(total - last)].filter(Boolean);
        const now = this.#body.children;
        const same = wanted.length === now.length && wanted.every((row, i) => row === now[i]);
        if (same) return;
        const focus = this.#body.contains(document.activeElement) ? document.activeElement : null;
        this.#body.replaceChildren(...wanted);
        if (focus?.isConnected) focus.focus({ preventScroll: true });
    }
    #gap(count_) {
        if (count_ <= 0) return null;
        const row = h("tr", { class: "gap" }, h("td", { colspan: this.#columns.length }));
        row.style.height = count_ * this.#height + "px";
        return row;
    }
    #row(row, cache) {
        const { key, onpick, chosen, faded } = this.#options;
        const id = String(key(row));
        let element = this.#cache.get(id) ?? cache.get(id);
        if (!element) {
            element = h("tr", onpick ? { class: "pick", tabindex: "0" } : null,
                this.#columns.map((column) => h("td", { class: column.number ? "number" : null })));
        }
        element.row = row;
        cache.set(id, element);
        this.#columns.forEach((column, i) => {
            const value = column.of(row), cell = element.children[i];
            if (value instanceof Node) {
                if (cell.shown !== value.outerHTML) { cell.replaceChildren(value); cell.shown = value.outerHTML; }
            } else {
                cell.shown = null;
                write(cell, value === null || value === undefined ? "" : String(value));
            }
        });
        element.classList.toggle("chosen", Boolean(chosen?.(row)));
        element.classList.toggle("faded", Boolean(faded?.(row)));
        return element;
    }
    #pick(target) {
        const row = target.closest("tr")?.row;
        if (row !== undefined && !target.closest("button, a, input")) this.#options.onpick?.(row);
        this.#later();
    }
    #key(event) {
        const line = event.target.closest("tr.pick");
        if (!line) return;
        const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
        if (event.key === "Enter" || event.key === " ") this.#pick(line);
        else if (next) line[next]?.classList.contains("pick") && line[next].focus();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}
