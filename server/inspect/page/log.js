// SPDX-License-Identifier: MIT
// View 7: what the server says, newest below, and the options with where each comes from.
import { count, empty, h, pill, segments, Table, write } from "./dom.js";

export const isWhole = true;
const LINES_MAX = 2000, EVERY_MS = 4000;
const LEVELS = ["error", "warning", "info", "debug"];
const full = (level) => level === "warn" ? "warning" : level;

function tail(page) {
    let level = page.get("level") || "debug", layer = page.get("layer"), lines = [], newest = 0n, newest_row = null, is_at_end = true;
    const problem = h("p", { class: "problem" }), number = h("span", { class: "note" });
    const search = h("input", { class: "grow", placeholder: "text", "data-search": "", value: page.get("q"), spellcheck: "false", "aria-label": "Search the log", oninput: () => { page.set({ q: search.value }); all(); } });
    const box = h("div", { class: "lines", tabindex: "0", role: "log", "aria-label": "Log" });
    const jump = h("button", { class: "button", hidden: true, onclick: () => { is_at_end = true; down(); } }, "Newest ↓");
    box.addEventListener("scroll", () => {
        is_at_end = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
        jump.hidden = is_at_end;
    }, { passive: true });
    const levels = segments([["debug", "All"], ["info", "Info"], ["warning", "Warnings"], ["error", "Errors"]], level, (value) => { level = value; page.set({ level: value === "debug" ? "" : value }); all(); }, "Level");
    const layers = h("select", { "aria-label": "Layer", onchange: () => { layer = layers.value; page.set({ layer }); all(); } }, ["", "server", "game", "net", "log", "http"].map((name) => h("option", { value: name }, name || "all layers")));
    layers.value = layer;

    const fits = (line) => LEVELS.indexOf(full(line.level)) <= LEVELS.indexOf(level) && (!layer || line.layer === layer) &&
        (!search.value || line.text.toLowerCase().includes(search.value.toLowerCase()));
    // Equal lines that follow each other are one, with their number.
    const is_same = (a, b) => a && a.text === b.text && a.level === b.level && a.layer === b.layer;
    const element_of = (line) => h("div", { class: full(line.level) },
        h("span", { class: "time", title: new Date(Number(line.time_ms)).toISOString() + ", tick " + line.tick }, new Date(Number(line.time_ms)).toTimeString().slice(0, 8) + "." + String(Number(line.time_ms) % 1000).padStart(3, "0")),
        h("span", { class: "level" }, full(line.level)), h("span", { class: "layer" }, line.layer), h("span", { class: "text" }, line.text, line.times > 1 ? [" ", pill("× " + count(line.times))] : null));
    function put(found) {
        for (const line of found) {
            if (is_same(newest_row, line)) {
                newest_row.times++;
                box.lastElementChild.replaceWith(element_of(newest_row));
            } else box.append(element_of(newest_row = { ...line, times: 1 }));
        }
    }
    const down = () => { if (is_at_end) box.scrollTop = box.scrollHeight; };
    const total = () => {
        write(number, `${count(lines.filter(fits).length)} of ${count(lines.length)} lines`);
        if (!box.firstElementChild) box.replaceChildren(empty("No line", lines.length ? "None of the lines fits these filters." : "What the server says appears here."));
    };
    function all() {
        box.replaceChildren();
        newest_row = null;
        put(lines.filter(fits));
        total();
        down();
    }
    function add(answer) {
        write(problem, "");
        const fresh = (answer.lines ?? []).filter((line) => BigInt(line.n) > newest);
        if (!fresh.length) return lines.length === 0 ? total() : undefined;
        newest = BigInt(fresh.at(-1).n);
        lines.push(...fresh);
        box.querySelector(".empty")?.remove();
        put(fresh.filter(fits));
        lines = lines.slice(-LINES_MAX);
        while (box.children.length > LINES_MAX) box.firstElementChild.remove();
        total();
        down();
    }
    async function fetch_all(signal) { // the ring, in pieces
        for (let i = 0; i < 20; i++) {
            const answer = await page.api.get("log", { after: newest, limit: 500 }, signal);
            add(answer);
            if (!answer.cut) break;
        }
    }
    page.on("log", add);
    page.on("restart", () => { lines = []; newest = 0n; all(); poll.now(); });
    const poll = page.api.poll(EVERY_MS, fetch_all, page.problem(problem));
    return { close: poll, element: h("div", { class: "list" }, h("div", { class: "toolbar" }, levels, layers, search, number, jump, problem), box) };
}

function options(page) {
    const search = h("input", { class: "grow", placeholder: "option", "data-search": "", spellcheck: "false", "aria-label": "Search options", oninput: () => show() });
    const problem = h("p", { class: "problem" });
    let list = [];
    const table = new Table([
        { name: "name", title: "Option", of: (row) => h("code", null, "--" + row.name), by: (row) => row.name },
        { name: "value", title: "Value", of: (row) => row.is_hidden ? h("span", { class: "faint" }, row.value) : h("code", null, row.value === "" ? "–" : row.value), by: (row) => row.value },
        { name: "source", title: "Source", of: (row) => pill(row.source, row.source === "default" ? "" : "accent"), by: (row) => row.source },
        { name: "help", title: "Meaning", of: (row) => row.help },
    ], { key: (row) => row.name, faded: (row) => row.source === "default", none: "no option" });
    const show = () => table.rows(list.filter((row) => (row.name + " " + row.help + " " + row.source).toLowerCase().includes(search.value.toLowerCase())));
    const stop = page.api.poll(15000, async (signal) => {
        list = (await page.api.get("options", null, signal)).options ?? [];
        list.sort((a, b) => (a.source === "default") - (b.source === "default"));
        write(problem, "");
        show();
    }, page.problem(problem));
    return { close: stop, element: h("div", { class: "list" }, h("div", { class: "toolbar" }, search, problem), table.element) };
}

export function open(root, page) {
    let part = null;
    const place = h("div", { class: "split alone" });
    const choose = (name) => {
        part?.close();
        page.set({ show: name === "options" ? name : "" });
        part = (name === "options" ? options : tail)(page);
        part.element.firstElementChild.prepend(segments([["lines", "Lines"], ["options", "Options"]], name, choose, "Show"));
        place.replaceChildren(part.element);
    };
    root.append(place);
    choose(page.get("show") || "lines");
    return { close: () => part.close() };
}
