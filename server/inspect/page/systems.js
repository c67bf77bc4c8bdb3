// SPDX-License-Identifier: MIT
// View 6: the systems in their order, what each reads and writes, and what it costs.
import { bar, count, empty, fixed, h, micros, percent, pill, Table, write } from "./dom.js";

export const isWhole = true;
const EVERY_MS = 1500, NAMES_SHOWN = 2;

function chips(names) {
    return h("span", { class: "chips line", title: names.join(", ") }, names.slice(0, NAMES_SHOWN).map((name) => pill(name)), names.length > NAMES_SHOWN ? pill("+" + (names.length - NAMES_SHOWN)) : null);
}

export function open(root, page) {
    const problem = h("p", { class: "problem" }), about = h("span", { class: "note" }), search = h("input", { placeholder: "system or component", "data-search": "", value: page.get("q"), "aria-label": "Search", spellcheck: "false", oninput: () => { page.set({ q: search.value }); show(); } });
    let all = [], most = 1;
    const table = new Table([
        { name: "order", title: "Order", hint: "stage, wave: systems of one wave run at the same time", of: (row) => `${row.stage} ${(row.wave ?? 0) + 1}`, by: (row) => row.at },
        { name: "name", title: "System", of: (row) => h("span", null, h("b", null, row.name), row.is_sync_point ? [" ", pill("sync point")] : null, row.every_ticks > 1 ? [" ", pill("every " + row.every_ticks + " ticks")] : null), by: (row) => row.name },
        { name: "mean", title: "Mean", number: true, of: (row) => row.ticks === "0" ? "–" : micros(row.mean_us), by: (row) => row.mean_us },
        { name: "max", title: "Max", number: true, of: (row) => row.ticks === "0" ? "–" : micros(row.max_us), by: (row) => row.max_us },
        { name: "share", title: "Share", number: true, of: (row) => percent(row.share), by: (row) => row.share },
        { name: "bar", title: "", of: (row) => bar(row.share / most) },
        { name: "rows", title: "Rows a tick", number: true, of: (row) => row.ticks === "0" ? "–" : count(Math.round(Number(row.rows) / Math.max(1, Number(row.ticks)))), by: (row) => Number(row.rows) / Math.max(1, Number(row.ticks)) },
        { name: "reads", title: "Reads", of: (row) => chips(row.reads ?? []) },
        { name: "writes", title: "Writes", of: (row) => chips(row.writes ?? []) },
        { name: "events", title: "Events", of: (row) => chips(row.events ?? []) },
    ], { key: (row) => row.stage + "/" + row.name, sort: page.get("sort") || "order", onsort: (sort) => page.set({ sort: sort === "order" ? "" : sort }), faded: (row) => row.ticks === "0",
        none: empty("No system", "Nothing is named so.") });

    function show() {
        const words = search.value.trim().toLowerCase();
        const has = (row) => [row.name, row.stage, ...(row.reads ?? []), ...(row.writes ?? []), ...(row.events ?? [])].some((text) => text.toLowerCase().includes(words));
        table.rows(words ? all.filter(has) : all);
    }
    const stop = page.api.poll(EVERY_MS, async (signal) => {
        const answer = await page.api.get("systems", null, signal);
        write(problem, "");
        all = (answer.stages ?? []).flatMap((stage, s) => stage.systems.map((system, i) => ({ ...system, stage: stage.name, at: s * 10000 + i })));
        most = Math.max(0.001, ...all.map((row) => row.share ?? 0));
        write(about, answer.timed ? `${count(all.length)} systems, times of the last ${fixed(answer.seconds, 0)} s` : "Timing begins now: systems are timed only while this view is open.");
        show();
    }, page.problem(problem));
    root.append(h("div", { class: "split alone", id: "systems" }, h("div", { class: "list" }, h("div", { class: "toolbar" }, search, about, problem), table.element)));
    return { close: stop };
}
