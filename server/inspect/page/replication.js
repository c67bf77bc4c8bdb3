// SPDX-License-Identifier: MIT
// View 4: where the sent bytes go, and one packet taken apart bit by bit.
import { colours, Chart, fit, showTip } from "./chart.js";
import { bar, card, count, empty, fill, h, percent, rate, segments, swatch, Table, write } from "./dom.js";

const EVERY_MS = 1000, HISTORY = 60, SHOWN_LINES = 7, ROWS = 3, OTHERS = "all others";
const WAYS = [["component", "Component"], ["template", "Template"], ["cause", "Cause"], ["client", "Client"], ["entity", "Entity"]];

function ledger(page) {
    let by = page.get("by") || "component", history = [], names = [], stop = null;
    const problem = h("p", { class: "problem" }), whole = h("span", { class: "note" }), canvas = h("canvas"), keys = h("div", { class: "legend" });
    const chart = new Chart(canvas, { series: [], stacked: true, format: rate, length: HISTORY, least: 100 });
    const table = new Table([
        { name: "name", title: "Name", of: (row) => h("span", null, names.includes(row.name) ? [swatch(names.indexOf(row.name)), " "] : null, call(row.name), row.template ? h("span", { class: "note" }, " " + row.template) : null), by: (row) => row.name },
        { name: "rate", title: "Bytes a second", number: true, of: (row) => rate(row.bytes_s), by: (row) => row.bytes_s },
        { name: "share", title: "Share", number: true, of: (row) => percent(row.share), by: (row) => row.share },
        { name: "bar", title: "", of: (row) => bar(row.share) },
        { name: "bits", title: "Bits in 10 s", number: true, of: (row) => count(row.bits), by: (row) => Number(row.bits) },
    ], { key: (row) => row.name, sort: "-rate", none: empty("Counting", "The first figures come within a second."),
        onpick: (row) => by === "client" ? page.go("clients", { client: row.name }) : by === "entity" ? page.go("world", { entity: row.name }) : by === "component" ? page.go("world", { q: row.name }) : by === "template" ? page.go("world", { q: "template=" + row.name }) : null });
    table.element.style.maxHeight = "420px";
    const ways = segments(WAYS, by, (value) => { by = value; page.set({ by: value === "component" ? "" : value }); begin(); }, "By");

    const call = (name) => name === "-" ? `heads of packets (no ${by})` : by === "client" && name !== OTHERS ? "client " + name : name;
    function show(answer) {
        write(problem, "");
        write(whole, answer.seconds ? `${rate(Number(answer.bits) / 8 / answer.seconds)} over ${Math.round(answer.seconds)} s` : "");
        table.rows(answer.lines ?? []);
        // The largest keep their colours while they are among the largest.
        const largest = (answer.lines ?? []).slice(0, SHOWN_LINES).map((line) => line.name);
        for (let i = 0; i < SHOWN_LINES; i++) if (!largest.includes(names[i])) names[i] = null;
        for (const name of largest) if (!names.includes(name)) names[names.indexOf(null) >= 0 ? names.indexOf(null) : names.length] = name;
        const shown = names.filter((name) => name !== null);
        history.push(new Map((answer.lines ?? []).map((line) => [line.name, line.bytes_s])));
        if (history.length > HISTORY) history.shift();
        const total = (values) => [...values.values()].reduce((a, b) => a + b, 0);
        chart.options.series = [...shown.map((name) => ({ name, colour: names.indexOf(name) })), { name: OTHERS, colour: 7 }];
        chart.set([...shown.map((name) => history.map((values) => values.get(name) ?? 0)),
            history.map((values) => Math.max(0, total(values) - shown.reduce((sum, name) => sum + (values.get(name) ?? 0), 0)))]);
        keys.replaceChildren(...chart.options.series.map((each) => h("span", null, swatch(each.colour), call(each.name))));
    }
    function begin() {
        stop?.();
        [history, names] = [[], []];
        table.rows([]);
        stop = page.api.poll(EVERY_MS, async (signal) => show(await page.api.get("ledger", { by }, signal)), page.problem(problem));
    }
    begin();
    const element = [card([h("h2", null, "Sent bytes"), ways, whole], "", h("div", { class: "body" }, problem, h("div", { class: "plot" }, canvas), keys)), card(null, "", h("div", { class: "flush" }, table.element))];
    return { element, close() { stop(); chart.close(); } };
}

const kind_of = (part) => part.component || part.cause || part.name;

// The packet's bits in rows across the canvas: a colour for each component, so that it is seen what takes the room.
class Packet {
    #parts = []; #packet = null; #chosen = -1;
    constructor(page) {
        this.page = page;
        this.problem = h("p", { class: "problem" });
        this.about = h("span", { class: "note" });
        this.canvas = h("canvas", { class: "bits", role: "img", "aria-label": "the bits of the packet" });
        this.client = h("select", { "aria-label": "Client of the packet" });
        this.button = h("button", { class: "button", onclick: () => this.take() }, "Take the next packet");
        this.keys = h("div", { class: "legend" });
        this.table = new Table([
            { name: "offset", title: "Bit", number: true, of: (part) => count(part.offset) },
            { name: "bits", title: "Bits", number: true, of: (part) => count(part.bits) },
            { name: "name", title: "Part", of: (part) => this.name(part) },
            { name: "entity", title: "Entity", of: (part) => part.entity || "" },
            { name: "component", title: "Component", of: (part) => part.component || "" },
            { name: "value", title: "Value", of: (part) => h("span", { class: "value" }, part.value ?? "") },
        ], { key: (part) => `${part.offset} ${part.depth} ${part.name}`, chosen: (part) => this.#parts[this.#chosen] === part, onpick: (part) => { this.#chosen = this.#parts.indexOf(part); this.draw(); },
            none: empty("No packet yet", "Choose a client and take its next packet: each part is listed with its place in bits, its name and its value.") });
        this.table.element.style.maxHeight = "460px";
        this.canvas.hidden = true;
        this.canvas.addEventListener("pointermove", (event) => this.point(event));
        this.canvas.addEventListener("pointerleave", () => showTip(null, ""));
        this.canvas.addEventListener("click", (event) => { this.#chosen = this.at(event); this.draw(); this.reveal(); });
        new ResizeObserver(() => this.draw()).observe(this.canvas);
        this.element = card([h("h2", null, "A packet, bit by bit"), this.client, this.button, this.about], "", h("div", { class: "body" }, this.problem, this.canvas, this.keys), h("div", { class: "flush" }, this.table.element));
    }
    name(part) {
        const indent = h("span", null, this.leaves.has(part) ? [swatch(this.colour.get(kind_of(part)) ?? 7), " "] : null, part.name);
        indent.style.paddingLeft = (part.depth ?? 0) * 14 + "px";
        return indent;
    }
    async take() {
        this.button.disabled = true;
        write(this.about, "waiting for it …");
        let fault = null;
        for (let i = 0; i < 12; i++) { // 404 until the next one was sent
            try {
                this.show(await this.page.api.get("packet", { client: this.client.value }));
                fault = null;
                break;
            } catch (error) {
                fault = error;
                if (error.status !== 404) break;
                await new Promise((done) => setTimeout(done, 250));
            }
        }
        this.button.disabled = false;
        if (fault) write(this.about, "");
        write(this.problem, fault?.message ?? "");
    }
    show(packet) {
        this.#packet = packet;
        this.#parts = packet.parts ?? [];
        this.#chosen = -1;
        const parts = this.#parts;
        // A part that the next one lies in has no bits of its own.
        this.leaves = new Set(parts.filter((part, i) => part.bits > 0 && !(parts[i + 1]?.offset < part.offset + part.bits)));
        const sums = new Map();
        for (const part of this.leaves) sums.set(kind_of(part), (sums.get(kind_of(part)) ?? 0) + part.bits);
        const order = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
        this.colour = new Map(order.slice(0, 7).map((name, i) => [name, i]));
        write(this.about, `client ${packet.client}, tick ${count(packet.tick)}: ${count(packet.bits)} bits, ${count(Math.ceil(packet.bits / 8))} bytes, ${count(parts.length)} parts`);
        this.keys.replaceChildren(...order.slice(0, 7).map((name, i) => h("span", null, swatch(i), `${name} ${percent(sums.get(name) / Math.max(1, packet.bits), 0)}`)),
            order.length > 7 ? h("span", null, swatch(7), "others") : "");
        this.canvas.hidden = false;
        this.table.rows(parts);
        this.draw();
    }
    draw() {
        if (!this.#packet || !this.canvas.clientWidth) return;
        const { context: c, width, height } = fit(this.canvas), colour = colours(), line = Math.ceil(this.#packet.bits / ROWS), tall = Math.floor((height - 8) / ROWS);
        this.line = line;
        this.tall = tall + 3;
        c.fillStyle = colour.raise;
        for (let row = 0; row < ROWS; row++) c.fillRect(0, row * this.tall, width, tall);
        const chosen = this.#parts[this.#chosen];
        for (const part of this.leaves) {
            const lit = !chosen || chosen === part || part.offset >= chosen.offset && part.offset + part.bits <= chosen.offset + chosen.bits;
            c.globalAlpha = lit ? 1 : 0.25;
            c.fillStyle = colour.data[this.colour.get(kind_of(part)) ?? 7];
            for (let at = part.offset; at < part.offset + part.bits;) { // a part may go over the end of a row
                const row = Math.floor(at / line), end = Math.min(part.offset + part.bits, (row + 1) * line), x = (at - row * line) / line * width, w = (end - at) / line * width;
                c.fillRect(x, row * this.tall, Math.max(0.5, w - (w > 3 ? 1 : 0)), tall);
                at = end;
            }
        }
        c.globalAlpha = 1;
        this.table.refresh();
    }
    at(event) {
        const bit = Math.floor(event.offsetY / this.tall) * this.line + event.offsetX / this.canvas.clientWidth * this.line;
        return this.#parts.findIndex((part) => this.leaves.has(part) && bit >= part.offset && bit < part.offset + part.bits);
    }
    point(event) {
        const part = this.#parts[this.at(event)];
        showTip(event, part ? `${[part.entity, part.component, part.name].filter(Boolean).join(" · ")}\n${part.value ?? ""}\nbits ${part.offset} to ${part.offset + part.bits - 1} (${part.bits})` : "");
    }
    reveal() {
        if (this.#chosen >= 0) this.table.element.scrollTop = Math.max(0, this.#chosen - 4) * 30;
    }
}

export function open(root, page) {
    const sums = ledger(page), packet = new Packet(page);
    root.append(h("div", { class: "grid" }, sums.element, packet.element));
    let known = "";
    page.on("clients", (data) => {
        const list = data.clients ?? [], key = list.map((each) => each.client + each.name).join();
        if (key === known) return;
        known = key;
        const chosen = packet.client.value;
        fill(packet.client, list.map((each) => [each.client, `client ${each.client} ${each.name ?? ""}`]), chosen || undefined);
    });
    return { close: () => sums.close(), key: (event) => event.key === "p" && (packet.take(), true) };
}
