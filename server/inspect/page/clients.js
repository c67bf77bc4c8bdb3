// SPDX-License-Identifier: MIT
// View 3: the clients, one of them in full, and why it has (not) an entity.
import { bytes, count, duration, empty, facts, fixed, h, pill, rate, Table, write } from "./dom.js";
import { Chart } from "./chart.js";

export const isWhole = true;
const EVERY_MS = 1000, WHY_MS = 500, HISTORY = 60, KEPT_MS = 5000, SURE_MS = 3000;

const state_kind = (state) => ({ playing: "ok", away: "warn", closing: "bad", gone: "bad" })[state] ?? "";
const lost = (share) => fixed((share ?? 0) * 100, share >= 0.1 ? 0 : 1);

function columns(page) {
    const hz = () => page.status?.tick_rate_hz ?? 60;
    return [
        { name: "client", title: "No.", number: true, of: (row) => String(row.client), by: (row) => row.client },
        { name: "name", title: "Name", of: (row) => h("span", null, row.name || "–", row.state === "playing" ? null : [" ", pill(row.state, state_kind(row.state))], row.kind === "player" ? null : [" ", pill(row.kind)]), by: (row) => row.name },
        { name: "rtt", title: "Round trip", number: true, hint: "with its jitter", of: (row) => `${fixed(row.rtt_ms, 0)} ± ${fixed(row.jitter_ms, 0)} ms`, by: (row) => row.rtt_ms },
        { name: "loss", title: "Loss to / from", number: true, hint: "state packets to the client that were lost; its inputs that never came", by: (row) => Math.max(row.loss_out_ratio, row.loss_in_ratio),
            of: (row) => h("span", { class: Math.max(row.loss_out_ratio, row.loss_in_ratio) >= 0.05 ? "problem" : null }, `${lost(row.loss_out_ratio)} / ${lost(row.loss_in_ratio)} %`) },
        { name: "sent", title: "Sent", number: true, of: (row) => rate(row.sent_bytes_s), by: (row) => row.sent_bytes_s },
        { name: "rate", title: "May get", number: true, hint: "what its line carries now, and its limit", of: (row) => h("span", { title: "limit " + rate(row.rate_max_bytes_s) }, rate(row.rate_bytes_s)), by: (row) => row.rate_bytes_s },
        { name: "waiting", title: "Waits", number: true, hint: "entities of those that it sees which have a change that is not sent yet", of: (row) => row.waiting ? `${count(row.waiting)} of ${count(row.entities)}` : row.is_held ? "held" : "–", by: (row) => row.waiting },
        { name: "oldest", title: "Oldest", number: true, hint: "age of the oldest change that waits to be sent", of: (row) => row.waiting_ticks ? `${fixed(row.waiting_ticks * 1000 / hz(), 0)} ms` : "–", by: (row) => row.waiting_ticks },
        { name: "late", title: "Late", hint: "inputs that came too late or never", number: true, of: (row) => count(row.late_inputs), by: (row) => Number(row.late_inputs) },
    ];
}

function details(one) {
    return [["address", one.address && h("code", null, one.address)], ["player id", one.player_id && h("code", null, one.player_id)],
        ["its entity", one.player && one.player !== "none" && h("a", { href: `#view=world&entity=${one.player}` }, one.player)],
        ["connected for", one.since_s === undefined ? null : duration(one.since_s)], ["heard", one.quiet_ms === undefined ? null : `${count(one.quiet_ms)} ms ago`],
        ["sees", one.entities === undefined ? null : `${count(one.entities)} entities${one.watches ? `, as client ${one.watches}` : ""}`],
        ["acknowledged", one.acked_tick && `tick ${count(one.acked_tick)} of ${count(one.sent_tick)}`],
        ["packets", one.packets_sent && `${count(one.packets_sent)} sent, ${count(one.packets_lost)} lost`], ["state bytes", one.state_bytes && bytes(one.state_bytes)],
        ["code", one.is_solo === undefined ? null : one.is_solo ? "solo: statistics of its own" : "shared with others"],
        ["may get", `${rate(one.rate_bytes_s)}, at most ${rate(one.rate_max_bytes_s)}`], ["rate", one.rate_cuts && `${count(one.rate_cuts)} times cut, ${count(one.rate_raises)} times raised`],
        ["inputs", one.inputs_received && `${count(one.inputs_received)} came, ${count(one.inputs_missing)} never, ${count(one.inputs_late)} late, ${count(one.inputs_repeated)} repeated, ${count(one.inputs_malformed)} malformed`],
        ["input queue", one.input_depth === undefined ? null : `${count(one.input_depth)} ticks`], ["strikes", one.strikes ? count(one.strikes) : null],
        ["end", one.end && one.end !== "none" ? one.end : null]];
}

const RULES = { replicated: "It is replicated", player: "It is the client's own player", owner: "The client owns it", always: "The game shows it always", everywhere: "It has no place: each client has it", groups: "They have a group in common",
    range: "It is near enough", stay: "It came into sight a moment ago", together: "It goes with another one that is shown", relevance: "The game's own rule" };
const distance = (why) => why.distance === undefined || why.radius === undefined ? "" : `${fixed(why.distance, 1)} away; seen within ${fixed(why.radius, 1)}${why.leave_radius > why.radius ? `, until ${fixed(why.leave_radius, 1)}` : ""}`;

// The reasons from the world to the client, in order.
function reasons(why) {
    const components = why.components ?? [], hidden = components.filter((each) => !each.visible), waiting = components.filter((each) => each.waits);
    const list = [[why.template ? "yes" : "no", why.template ? "It lives" : "No such entity lives", why.template ? `template ${why.template}` : ""]];
    if (!why.template) return list;
    for (const { rule, answer } of why.rules ?? []) {
        if (answer === "silent" && rule !== why.rule) continue;
        const more = [rule === "range" ? distance(why) : "", rule === why.rule ? "this rule decides" : ""].filter(Boolean).join("; ");
        list.push([answer === "hides" ? "no" : "yes", `${RULES[rule] ?? rule}${answer === "hides" ? ": no" : ""}`, more]);
    }
    if (why.turn_ticks) list.push(["wait", `Its rules are looked at again in ${count(why.turn_ticks)} ticks`, "what the client sees follows then"]);
    if (why.has) list.push([why.has === "live" ? "yes" : why.has === "not" ? "no" : "wait", why.has === "live" ? "The client has it" : why.has === "not" ? "The client has nothing of it" : `On the way: ${why.has}`, why.entered_tick && why.entered_tick !== "0" ? `in its sight since tick ${count(why.entered_tick)}` : ""]);
    if (why.sees && hidden.length) list.push(["wait", `${count(hidden.length)} of its components are hidden from this client`, hidden.map((each) => `${each.name} (${each.class})`).join(", ")]);
    if (why.waits) list.push(["wait", `Waits to be sent${waiting.length ? ": " + waiting.map((each) => each.name).join(", ") : ""}`,
        [why.rank ? `place ${count(why.rank)} of ${count(why.waiting)}` : "", `priority ${fixed(why.priority, 0)}`, why.waits_since_tick !== "0" ? `since tick ${count(why.waits_since_tick)}` : "", why.held].filter(Boolean).join("; ")]);
    else if (why.sees) list.push(["yes", "Nothing of it waits", `priority ${fixed(why.priority, 0)}`]);
    if (why.packet) list.push([why.packet.state === "lost" ? "no" : why.packet.state === "flying" ? "wait" : "yes", `Packet ${why.packet.seq} of tick ${count(why.packet.tick)} carried it: ${why.packet.state}`, why.packets_flying ? `${count(why.packets_flying)} packets with it are on the way` : ""]);
    if (why.acked_tick && why.acked_tick !== "0") list.push(["yes", `Acknowledged as of tick ${count(why.acked_tick)}`, why.base_tick === "0" ? "the next row is whole" : `the next row counts from tick ${count(why.base_tick)}, the match is at ${count(why.tick)}`]);
    return list;
}

function sentence(why) {
    if (!why.template) return "No entity of this handle lives.";
    const rule = RULES[why.rule] ?? why.rule ?? "";
    return why.rule === "range" ? `It is ${distance(why)}.` : why.sees ? rule + "." : `No rule shows it${rule ? `: “${rule.toLowerCase()}” does not hold` : ""}.`;
}

function verdict(why) {
    const kind = !why.sees ? "no" : why.waits ? "wait" : "yes";
    return [h("div", { class: "verdict " + kind }, h("div", null, h("b", null, why.sees ? why.waits ? "Seen, and a change waits" : "Seen" : "Not seen"), sentence(why))),
        h("ul", { class: "chain" }, reasons(why).map(([mark, text, more]) => h("li", { class: mark }, text, more && h("div", { class: "note" }, more))))];
}

function why_columns() {
    return [{ name: "name", title: "Component", of: (row) => row.name },
        { name: "class", title: "Class", of: (row) => h("span", { class: "note" }, row.class) },
        { name: "state", title: "For this client", of: (row) => !row.visible ? pill("hidden", "bad") : row.waits ? pill("waits", "warn") : row.unconfirmed ? pill("sent") : pill("has it", "ok") }];
}

class One { // the side: one client, and why
    constructor(page) {
        this.page = page;
        this.history = [];
        this.title = h("h2");
        this.facts = h("div");
        this.warnings = h("div");
        this.problem = h("p", { class: "problem" });
        this.canvas = h("canvas", { class: "low" });
        this.chart = new Chart(this.canvas, { series: [{ name: "round trip", colour: 0 }, { name: "oldest waiting change", colour: 1 }], length: HISTORY, format: (n) => fixed(n, 0) + " ms", least: 10 });
        this.entity = h("input", { class: "mono", placeholder: "entity, like 17:1", "data-search": "", spellcheck: "false", size: "14", value: page.get("entity"), "aria-label": "Entity" });
        this.answer = h("div");
        this.why_problem = h("p", { class: "problem" });
        this.components = new Table(why_columns(), { key: (row) => row.name, none: "no components" });
        this.components.element.hidden = true;
        this.own = h("button", { class: "button", type: "button", disabled: true, onclick: () => { this.entity.value = this.one.player; form.requestSubmit(); } }, "Its own");
        const form = h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); page.set({ entity: this.entity.value.trim() }); this.entity.blur(); this.ask(); } },
            this.entity, h("button", { class: "primary" }, "Why?"), this.own);
        this.orders = h("div", { class: "row" });
        this.element = h("div", { class: "side" },
            h("div", { class: "section" }, h("div", { class: "row" }, this.title), this.problem, this.warnings, this.canvas, h("div", { class: "legend" }, h("span", null, h("i", { class: "swatch d0" }), "round trip"), h("span", null, h("i", { class: "swatch d1" }), "oldest waiting change"))),
            h("div", { class: "section" }, h("h2", null, "Why does it see an entity, or not?"), form, this.why_problem, this.answer),
            this.components.element, h("div", { class: "section" }, h("h2", null, "Figures"), this.facts), h("div", { class: "section" }, this.orders));
        this.element.hidden = true;
    }
    choose(client) {
        if (client === this.client) return; // its question "sure?" stays
        this.stop?.();
        this.stop_why?.();
        this.client = client;
        this.history = [];
        this.element.hidden = !client;
        if (!client) return;
        write(this.title, "Client " + client);
        this.answer.replaceChildren();
        this.orders.replaceChildren(); // a click never reaches the client before
        this.orders_of = null;
        this.stop = this.page.api.poll(EVERY_MS, async (signal) => this.show(await this.page.api.get("clients/" + client, null, signal)), (fault) => write(this.problem, fault.message));
        this.ask();
    }
    show(one) {
        this.one = one;
        this.own.disabled = !one.player || one.player === "none";
        write(this.problem, "");
        write(this.title, `Client ${one.client}${one.name ? ` “${one.name}”` : ""}`);
        this.warnings.replaceChildren(...(Array.isArray(one.warnings) ? one.warnings : []).map((each) => h("div", { class: "verdict wait" }, h("div", null, h("b", null, each.text), each.figure, h("div", { class: "note" }, each.remedy)))));
        this.facts.replaceChildren(facts(details(one)));
        this.history.push([one.rtt_ms, (one.waiting_ticks ?? 0) * 1000 / (this.page.status?.tick_rate_hz ?? 60)]);
        if (this.history.length > HISTORY) this.history.shift();
        this.chart.set([this.history.map((each) => each[0]), this.history.map((each) => each[1])]);
        this.order();
    }
    order() { // kick and ban, for operators
        const key = `${this.client} ${this.page.mayChange()}`;
        if (this.orders_of === key) return;
        this.orders_of = key;
        if (!this.page.mayChange()) return this.orders.parentElement.hidden = true;
        this.orders.parentElement.hidden = false;
        const reason = h("input", { class: "grow", placeholder: "reason, which the player reads", "aria-label": "Reason" });
        const order = (verb, title, done, values) => {
            let sure = null;
            const button = h("button", { class: "button", type: "button", onclick: async () => {
                if (!sure) {
                    write(button, title + ": sure?");
                    sure = setTimeout(() => { sure = null; write(button, title); }, SURE_MS);
                    return;
                }
                clearTimeout(sure);
                sure = null;
                write(button, title);
                try {
                    await this.page.api.post(verb, values(String(this.client), reason.value || undefined));
                    this.page.say(`Client ${this.client} ${done}.`);
                } catch (fault) {
                    write(this.problem, fault.message);
                }
            } }, title);
            return button;
        };
        this.orders.replaceChildren(reason, order("kick", "Kick", "was kicked", (client, text) => ({ client, reason: text })),
            order("ban", "Ban", "is banned: its address, or the player of its token", (who, text) => ({ who, rest: text })));
    }
    ask() {
        this.stop_why?.();
        write(this.why_problem, "");
        const entity = this.page.get("entity");
        this.entity.value = entity;
        if (!entity) {
            this.components.element.hidden = true;
            return this.answer.replaceChildren(h("p", { class: "note" }, "Enter an entity, or choose one in World. The answer names the rule, what waits, and what was acknowledged."));
        }
        this.stop_why = this.page.api.poll(WHY_MS, async (signal) => {
            const why = await this.page.api.get(`clients/${this.client}/why`, { entity }, signal);
            write(this.why_problem, "");
            const said = JSON.stringify({ ...why, tick: 0 });
            if (said === this.said) return;
            this.said = said;
            this.answer.replaceChildren(...verdict(why));
            this.components.element.hidden = !why.components?.length;
            this.components.rows(why.components ?? []);
        }, (fault) => { write(this.why_problem, fault.message); this.said = null; this.answer.replaceChildren(); this.components.element.hidden = true; });
    }
    close() {
        this.stop?.();
        this.stop_why?.();
        this.chart.close();
    }
}

export function open(root, page) {
    let all = [];
    const one = new One(page), number = h("span", { class: "note" });
    const table = new Table(columns(page), {
        key: (row) => row.client, sort: page.get("sort") || "client", onsort: (sort) => page.set({ sort: sort === "client" ? "" : sort }),
        chosen: (row) => row.client === one.client, faded: (row) => row.state !== "playing",
        onpick: (row) => { page.set({ client: row.client }); one.choose(row.client); },
        none: empty("No client plays", "They appear here when they join."),
    });
    const show = () => {
        write(number, `${count(all.length)} clients`);
        table.rows(all);
    };
    root.append(h("div", { class: "split" }, h("div", { class: "list" }, h("div", { class: "toolbar" }, number), table.element), one.element));
    const begin = Number(page.get("client"));
    if (begin) one.choose(begin);
    page.on("clients", (data) => {
        // A list that was cut to keep the tick short has not all of them: the others stay for a while.
        const now = performance.now(), fresh = new Map((data.clients ?? []).map((each) => [each.client, { ...each, at: now }]));
        all = data.cut ? [...all.filter((each) => !fresh.has(each.client) && now - each.at < KEPT_MS), ...fresh.values()] : [...fresh.values()];
        if (!one.client && all.length) one.choose(all[0].client);
        show();
    });
    return { close: () => one.close() };
}
