// SPDX-License-Identifier: MIT
// View 2: is the server well? Figures of the last minute, warnings in words, where the tick's time goes, what lives.
import { Chart } from "./chart.js";
import { bar, bytes, card, count, duration, empty, facts, h, micros, parts, percent, rate, swatch, Table, write } from "./dom.js";

const EVERY_MS = 1000, LENGTH = 60;

function tile(title, colour) {
    const figure = h("span"), unit = h("small"), under = h("div", { class: "under" }), canvas = h("canvas", { "aria-hidden": "true" });
    const element = h("section", { class: "card c3 tile", "aria-label": title }, h("h3", null, title), h("div", { class: "figure" }, figure, " ", unit), under, canvas);
    const chart = new Chart(canvas, { spark: true, series: [{ name: title, colour }], length: LENGTH });
    return { element, chart, set(value, its_unit, below, values) {
        write(figure, value);
        write(unit, its_unit);
        write(under, below);
        chart.set([values ?? []]);
    } };
}

function legend(names) {
    return h("div", { class: "legend" }, names.map(([name, colour]) => h("span", null, swatch(colour), name)));
}

function warnings(list) {
    if (!list.length) return h("div", { class: "body" }, h("div", { class: "row" }, h("span", { class: "pill ok" }, "All is well"), h("span", { class: "note" }, "no figure is beyond its limit")));
    return h("div", { class: "body" }, list.map((each) => h("div", { class: "verdict wait" }, h("div", null,
        h("b", null, each.text), h("div", null, each.figure), h("div", { class: "note" }, each.remedy)))));
}

// One bar with a piece for each part of the tick.
function split_bar(list) {
    return h("div", { class: "pieces", role: "img", "aria-label": list.map((part) => `${part.name} ${percent(part.share, 0)}`).join(", ") }, list.map((part, i) => {
        const piece = h("i", { class: "d" + i % 8, title: `${part.name} ${percent(part.share)}` });
        piece.style.width = part.share * 100 + "%";
        return piece;
    }));
}

// What the server lost or refused, as rows of text. Only what is not usual is a worry.
function losses(status) {
    const rows = (status.dropped ?? []).map((each) => [each.reason.replaceAll("_", " "), h("span", { class: each.is_usual ? "note" : null }, count(each.count) + (each.is_usual ? " (usual)" : ""))]);
    return rows.length ? facts(rows) : h("p", { class: "note" }, "Nothing was dropped.");
}

export function open(root, page) {
    const tiles = [tile("Tick, p99 of a second", "accent"), tile("Players", "accent"), tile("Sent", "accent"), tile("Entities", "accent")];
    const problem = h("p", { class: "problem" });
    const tick_canvas = h("canvas"), byte_canvas = h("canvas");
    const tick_chart = new Chart(tick_canvas, { series: [{ name: "p50", colour: 0 }, { name: "p99", colour: 1 }, { name: "max", colour: 7 }], format: micros, length: LENGTH, least: 100 });
    const byte_chart = new Chart(byte_canvas, { series: [{ name: "sent", colour: 0 }, { name: "received", colour: 1 }], format: rate, length: LENGTH, least: 1000 });
    const warned = h("div"), times = h("div", { class: "body" }), lost = h("div", { class: "body" }), log = h("div", { class: "body" });
    const living = new Table([
        { name: "name", title: "Template", of: (row) => row.name, by: (row) => row.name },
        { name: "entities", title: "Entities", number: true, of: (row) => count(row.entities), by: (row) => row.entities },
        { name: "share", title: "", of: (row) => bar(row.entities / Math.max(1, page.status?.entities ?? 1)) },
    ], { key: (row) => row.name, sort: "-entities", onpick: (row) => page.go("world", { q: "template=" + row.name }), none: "no entity lives" });
    living.element.style.maxHeight = "268px";
    const budget_note = h("span", { class: "note" });
    root.append(h("div", { class: "grid" },
        problem, tiles.map((each) => each.element),
        card("Warnings", "", warned),
        card([h("h2", null, "Tick time"), budget_note, legend([["p50", 0], ["p99", 1], ["max", 7]])], "c8", h("div", { class: "body" }, h("div", { class: "plot" }, tick_canvas))),
        card("Where a tick's time goes", "c4", times),
        card([h("h2", null, "Network"), legend([["sent", 0], ["received", 1]])], "c8", h("div", { class: "body" }, h("div", { class: "plot" }, byte_canvas))),
        card("Entities by template", "c4", h("div", { class: "flush" }, living.element)),
        card("Players", "c4", h("div", { class: "body" })), card("Dropped packets", "c4", lost), card("Event log", "c4", log)));
    problem.classList.add("card");
    const people = root.querySelectorAll(".card.c4")[2].lastElementChild;
    let warned_of = null;

    function show(status) {
        write(problem, "");
        const whole = status.parts?.[0] ?? {}, past = status.history ?? {}, [tick, tick_unit] = parts.micros(whole.p99_us ?? 0), [out, out_unit] = parts.rate(status.sent_bytes_s ?? 0);
        tiles[0].set(tick, tick_unit, `${percent((whole.p99_us ?? 0) / status.budget_us)} of ${micros(status.budget_us)}`, past.p99_us);
        tiles[1].set(count(status.clients), `of ${count(status.clients_max)}`, `${count(status.spectators)} watch, at most ${count(status.clients_peak)} played`, past.clients);
        tiles[2].set(out, out_unit, `${rate(status.recv_bytes_s)} received, ${bytes(status.sent_bytes)} in all`, past.sent_bytes);
        tiles[3].set(count(status.entities), "", `room for ${count(status.entities_max)}`, past.entities);
        tick_chart.options.limit = { value: status.budget_us, text: "budget " + micros(status.budget_us) };
        write(budget_note, `${status.tick_rate_hz} a second, a budget of ${micros(status.budget_us)} each; ${micros(status.cpu_us_per_tick)} of processor time, all threads`);
        tick_chart.set([past.p50_us ?? [], past.p99_us ?? [], past.max_us ?? []]);
        byte_chart.set([past.sent_bytes ?? [], past.recv_bytes ?? []]);
        const said = JSON.stringify(status.warnings ?? []);
        if (said !== warned_of) {
            warned_of = said;
            warned.replaceChildren(warnings(status.warnings ?? []));
        }
        show_times(status);
        living.rows(status.templates ?? []);
        people.replaceChildren(facts([["joined", count(status.joins)], ["refused", count(status.refusals)], ["dropped", count(status.drops)], ["came back", count(status.resumes)], ["server up for", duration(status.up_s)], ["its memory", bytes(status.memory_bytes)], ["its descriptors", `${count(status.descriptors)} of ${count(status.descriptors_max)}`], ["identity", status.identity]]));
        lost.replaceChildren(losses(status));
        log.replaceChildren(status.log ? facts([["file", status.log.file], ["written", bytes(status.log.bytes)], ["segments", count(status.log.segments)], ["keyframes", count(status.log.keyframes)],
            ["ticks lost", count(status.log.ticks_lost)], ["waits", duration(status.log.waiting_s)], ["saves", `${count(status.log.saves)}, failed ${count(status.log.saves_failed)}`],
            ...(status.stream ? [["not in the stream", count(status.stream.waiting)], ["standbys, relays", `${count(status.stream.standbys)}, ${count(status.stream.relays)}`]] : [])])
            : empty("No log is written", "Start the server with --log FILE to keep the match."));
    }

    function show_times(status) {
        const [whole, ...rest] = status.parts ?? [];
        if (!whole) return;
        const line = (part, i) => h("tr", null, h("td", null, i === null ? null : [swatch(i), " "], part.name === "tick" ? "whole tick" : part.name),
            ["p50_us", "p99_us", "max_us"].map((name) => h("td", { class: "number" }, micros(part[name]))));
        times.replaceChildren(h("div", { class: "table snug" }, h("table", null, h("thead", null, h("tr", null, ["", "p50", "p99", "max"].map((text) => h("th", { class: text ? "number" : null }, text)))),
            h("tbody", null, rest.map(line), line(whole, null)))), split_bar(rest));
    }

    const stop = page.api.poll(EVERY_MS, async (signal) => show(await page.api.get("status", null, signal)), page.problem(problem));
    return { close() {
        stop();
        for (const chart of [tick_chart, byte_chart, ...tiles.map((each) => each.chart)]) chart.close();
    } };
}
