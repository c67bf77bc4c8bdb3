// SPDX-License-Identifier: MIT
// The frame of the page: views, the fragment that holds what is shown, keys, the theme, and the one stream of figures.
// #view=clients&client=3&entity=17:1 is a link to what it says; #token=... is taken out of it at once (api.js).
import * as api from "./api.js";
import { forgetColours, showTip } from "./chart.js";
import { copy, count, duration, empty, facts, h, icon, micros, rate, write } from "./dom.js";
import * as match from "./match.js";
import * as overview from "./overview.js";
import * as clients from "./clients.js";
import * as replication from "./replication.js";
import * as world from "./world.js";
import * as systems from "./systems.js";
import * as log from "./log.js";

const VIEWS = { match, overview, clients, replication, world, systems, log };
const TITLES = { match: "Match", overview: "Overview", clients: "Clients", replication: "Replication", world: "World", systems: "Systems", log: "Log" };
const NAMES = Object.keys(VIEWS);
const of = (id) => document.getElementById(id);

// What views get. `status` is the newest answer, null before the first. set() keeps a value in the fragment.
const page = {
    api, status: null,
    get: (name) => state.get(name) ?? "",
    set(values) {
        for (const [name, value] of Object.entries(values)) {
            if (value === null || value === undefined || value === "") state.delete(name);
            else state.set(name, String(value));
        }
        write_fragment(false);
    },
    go: (view, values) => show(view, new URLSearchParams(values), true),
    on(name, heard) { // status, clients, log, restart
        heard_by.push([name, heard]);
        if (name === "status" && page.status) heard(page.status);
    },
    mayChange: () => page.status?.right === "operator",
    say: (text, isBad) => notice(text, isBad, 5000),
    // The error of a request as a sentence in its own place; all else goes on.
    problem: (element) => (fault) => { write(element, fault.message); },
};

let state = new URLSearchParams(), shown = null, shown_name = "", heard_by = [], stop_stream = null, streamed = "", notice_timer = 0;
const memory = new Map(); // of views: what their fragment held when they were left

function write_fragment(is_new) {
    const text = "#" + new URLSearchParams([["view", shown_name], ...state]).toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
    if (location.hash === text) return;
    history[is_new ? "pushState" : "replaceState"](null, "", text);
}

function read_fragment() {
    const values = new URLSearchParams(location.hash.slice(1));
    const token = values.get("token"), view = values.get("view");
    values.delete("token");
    values.delete("view");
    if (token) api.setToken(token);
    show(NAMES.includes(view) ? view : "match", values, false);
    write_fragment(false); // without the token: a copied address is no key
}

function show(name, values, is_new) {
    if (name === shown_name && values.toString() === state.toString() && shown) return;
    if (shown_name) memory.set(shown_name, state);
    heard_by = [];
    showTip(null, "");
    shown?.close?.();
    state = values;
    shown_name = name;
    const root = of("view");
    root.className = VIEWS[name].isWhole ? "whole" : "";
    root.replaceChildren();
    root.scrollTop = 0;
    write(of("title"), TITLES[name]);
    document.title = `${TITLES[name]} · Shoal${page.status ? " " + page.status.game : ""}`;
    for (const link of of("views").children) {
        if (link.dataset.view === name) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    try {
        if (is_log() && name !== "match") shown = void root.replaceChildren(empty("This is a log", "No match runs here: only the view Match has something to show."));
        else shown = VIEWS[name].open(root, page);
    } catch (fault) {
        shown = null;
        root.replaceChildren(h("div", { class: "empty" }, h("b", null, "This view failed"), fault.message));
        console.error(fault);
    }
    if (is_new) write_fragment(true);
    stream();
}

const is_log = () => page.status?.phase === "log"; // shoal-replay serve

function choose(name) {
    show(name, memory.get(name) ?? new URLSearchParams(), true);
    of("view").focus({ preventScroll: true });
}

// One stream: the state always, and what the view that is shown listens to.
function stream() {
    const names = ["status", "clients", "log"].filter((name) => name === "status" || heard_by.some(([of_name]) => of_name === name))
        .filter((name) => name !== "log" || page.mayChange());
    if (stop_stream && streamed === names.join()) return;
    stop_stream?.();
    streamed = names.join();
    stop_stream = api.listen(streamed, (name, data) => {
        if (name === "status") hear_status(data);
        tell(name, data);
    });
}

function tell(name, data) {
    for (const [wanted, heard] of heard_by) {
        if (wanted !== name) continue;
        try {
            heard(data);
        } catch (fault) {
            console.error(fault);
        }
    }
}

function hear_status(status) {
    const before = page.status;
    page.status = status;
    if (before && (status.up_s < before.up_s - 1 || status.build !== before.build)) {
        notice(`The server has restarted${status.build === before.build ? "" : " with another build: reload this page"}.`, false, 6000);
        tell("restart", status);
    }
    if (before?.right !== status.right) stream();
    write(of("game"), status.game);
    if (!before) document.title = `${TITLES[shown_name]} · Shoal ${status.game}`;
    of("right").hidden = status.right !== "reader";
    write(of("right"), "read only");
    if (!before && is_log()) {
        for (const link of of("views").children) link.hidden = link.dataset.view !== "match";
        if (shown_name !== "match") choose("match");
    }
    const whole = status.parts?.[0], part = (name, text, extra) => h("span", { class: extra ? "extra" : null }, name + " ", h("b", null, text));
    const list = is_log() ? [part("log of", `${count(status.tick)} ticks`)]
        : [part("tick", count(status.tick)), part("players", `${status.clients}/${status.clients_max}`), part("tick p99", micros(whole?.p99_us ?? null), true),
            part("out", rate(status.sent_bytes_s), true), part("up", duration(status.up_s), true)];
    if (!["running", "log"].includes(status.phase) || status.is_paused) list.unshift(h("span", { class: "pill warn" }, status.is_empty ? "paused until a player comes" : status.is_paused ? "paused" : status.phase));
    const places = of("facts").children, same = places.length === list.length && list.every((each, i) => each.className === places[i].className);
    if (!same) of("facts").replaceChildren(...list);
    else list.forEach((each, i) => { if (each.textContent !== places[i].textContent) places[i].replaceWith(each); });
    const warned = of("views").querySelector("[data-view=overview] em");
    write(warned, status.warnings?.length ? String(status.warnings.length) : "");
}

function hear_connection(state_now, why) {
    const words = { connecting: "connecting", live: "live", lost: "not connected", refused: "token needed" };
    const place = of("connection");
    place.className = state_now;
    write(place.lastElementChild, words[state_now] ?? state_now);
    if (state_now === "live") {
        if (of("notice").dataset.of === "connection") notice("The server answers again.", false, 2500);
    } else if (state_now === "lost") {
        notice(`${why} The page asks again until it answers.`, true, 0, "connection");
    } else if (state_now === "refused") {
        write(of("token-problem"), api.hasToken() ? why : "");
        if (!of("ask-token").open) of("ask-token").showModal();
    }
}

function notice(text, is_bad, ms, source) {
    const place = of("notice");
    clearTimeout(notice_timer);
    place.dataset.of = source ?? "";
    place.className = is_bad ? "bad" : "";
    write(place, text);
    place.hidden = !text;
    if (ms) notice_timer = setTimeout(() => { place.hidden = true; }, ms);
}

const KEYS = [["1 … 7", "the views"], ["/", "the query of the world; in other views, its search"], ["Space", "play and pause"], ["← →", "one tick back, forward; with Shift one second"],
    ["Home End", "first tick; live"], ["− +", "slower, faster"], ["C", "next client's eyes, then the spectator's"], ["↑ ↓ Enter", "in lists: move, choose"],
    ["T", "dark, light, as the system"], ["L", "copy a link to what is shown"], ["Esc", "out of a field"], ["?", "this help"]];

function help() {
    const place = of("help");
    if (place.open) return place.close();
    place.replaceChildren(h("h2", null, "Keys"), facts(KEYS.map(([keys, text]) => [h("span", null, keys.split(" ").map((key) => [h("kbd", null, key), " "])), text])),
        h("form", { method: "dialog" }, h("p"), h("button", { class: "primary" }, "Close")));
    place.showModal();
}

function theme(step) {
    const order = ["system", "dark", "light"];
    let now = "system";
    try {
        now = localStorage.getItem("shoal-theme") ?? "system";
        if (step) localStorage.setItem("shoal-theme", now = order[(order.indexOf(now) + 1) % 3]);
    } catch { // a browser that keeps nothing: for this page only
        if (step) now = order[(order.indexOf(document.documentElement.className || "system") + 1) % 3];
    }
    document.documentElement.className = now === "system" ? "" : now;
    write(of("theme").lastElementChild, { system: "Theme: system", dark: "Theme: dark", light: "Theme: light" }[now]);
    forgetColours();
}

async function share() {
    try {
        await copy(location.href);
        page.say("The link is copied. It holds no token.");
    } catch (fault) {
        page.say("The link was not copied: " + fault.message, true);
    }
}

function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") && event.key !== "?") return;
    const is_field = event.target.closest("input:not([type=range]):not([type=checkbox]), select, textarea");
    if (is_field) {
        if (event.key === "Escape") is_field.blur();
        return;
    }
    const number = "1234567".indexOf(event.key);
    if (shown?.key?.(event)) event.preventDefault();
    else if (number >= 0) choose(NAMES[number]);
    else if (event.key === "/") {
        event.preventDefault();
        if (!of("view").querySelector("[data-search]")) choose("world");
        const field = of("view").querySelector("[data-search]");
        field?.focus();
        field?.select();
    } else if (event.key === "?") help();
    else if (event.key === "t") theme(true);
    else if (event.key === "l") share();
}

function begin() {
    NAMES.forEach((name, i) => of("views").append(h("a", { href: "#view=" + name, "data-view": name, onclick: (event) => { event.preventDefault(); choose(name); } },
        icon(name), h("span", null, TITLES[name]), name === "overview" && h("em", { title: "warnings" }), h("kbd", null, String(i + 1)))));
    theme(false);
    matchMedia("(prefers-color-scheme: light)").addEventListener("change", forgetColours);
    of("theme").addEventListener("click", () => theme(true));
    of("share").addEventListener("click", share);
    of("help-open").addEventListener("click", help);
    of("connection").addEventListener("click", () => { if (api.state === "refused") of("ask-token").showModal(); });
    of("ask-token").addEventListener("close", () => {
        const token = of("token").value.trim();
        if (!token) return;
        of("token").value = "";
        api.setToken(token);
        streamed = "";
        const values = state;
        state = new URLSearchParams("again=1"); // opens the view again, with the token
        show(shown_name, values, false);
    });
    api.events.addEventListener("state", ({ detail }) => hear_connection(detail.state, detail.why));
    addEventListener("hashchange", read_fragment);
    addEventListener("popstate", read_fragment);
    addEventListener("keydown", press);
    read_fragment();
}

begin();
