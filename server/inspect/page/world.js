// SPDX-License-Identifier: MIT
// View 5: a query over the world, an entity with its family and its values, and edits where the operator may.
import { count, empty, h, icon, number, pill, Table, write } from "./dom.js";

export const isWhole = true;
const QUERY_MS = 1000, ENTITY_MS = 500, LIMIT = 200, ROWS_MAX = 1000;

function text_of(value) {
    if (value === null || value === undefined) return "–";
    if (Array.isArray(value)) return value.map(text_of).join(", ");
    return number(value);
}

const sorts = (value) => Array.isArray(value) ? Number(value[0]) : typeof value === "string" && value !== "" && !Number.isNaN(Number(value)) ? Number(value) : value ?? -Infinity;

class Query {
    #timer = null; #columns = null;
    constructor(page, choose) {
        this.page = page;
        this.limit = LIMIT;
        this.input = h("input", { class: "query", "data-search": "", spellcheck: "false", autocomplete: "off", autocapitalize: "off", list: "terms", "aria-label": "Query",
            placeholder: "pos, vel, !dead where health < 30", value: page.get("q"), oninput: () => { clearTimeout(this.#timer); this.#timer = setTimeout(() => this.begin(), 300); },
            onkeydown: (event) => { if (event.key === "Enter") { this.begin(); this.input.blur(); } } });
        this.terms = h("datalist", { id: "terms" });
        this.about = h("span", { class: "note" });
        this.problem = h("p", { class: "problem", role: "alert" });
        this.more = h("button", { class: "button", hidden: true, onclick: () => { this.limit = ROWS_MAX; this.begin(); } }, "1,000 rows");
        this.help = h("p", { class: "faint hint" }, "name · !name without it · ?name if present · template=NAME · where name.field < 3 and other = 1");
        this.table = new Table(this.base(), { key: (row) => row.entity, sort: page.get("sort"), onsort: (sort) => page.set({ sort }), onpick: (row) => choose(row.entity), chosen: (row) => row.entity === page.get("entity"),
            none: empty("No entity", "An empty query lists all.") });
        this.element = h("div", { class: "list" }, h("div", { class: "toolbar" }, this.input, this.terms, this.more, this.about, this.problem, this.help), this.table.element);
        this.begin();
        this.complete();
    }
    base() {
        return [{ name: "entity", title: "Entity", of: (row) => row.entity, by: (row) => Number(row.entity.split(":")[0]) }, { name: "template", title: "Template", of: (row) => row.template, by: (row) => row.template }];
    }
    begin() {
        clearTimeout(this.#timer);
        this.stop?.();
        const q = this.input.value.trim();
        this.page.set({ q });
        this.stop = this.page.api.poll(QUERY_MS, async (signal) => this.show(await this.whole(q, signal)), (fault) => {
            write(this.problem, fault.message);
            this.input.classList.toggle("wrong", fault.status === 400);
            write(this.about, "");
        });
    }
    async whole(q, signal) { // more rows than one answer's budget come in pieces
        let answer = await this.page.api.get("query", { q, limit: this.limit }, signal);
        const rows = answer.rows ?? [];
        while (answer.cut && answer.next && rows.length < this.limit) {
            answer = await this.page.api.get("query", { q, limit: this.limit - rows.length, after: answer.next }, signal);
            if (!answer.rows?.length) break;
            rows.push(...answer.rows);
        }
        return { ...answer, rows };
    }
    show(answer) {
        write(this.problem, "");
        this.input.classList.remove("wrong");
        write(this.about, `${count(answer.rows.length)} entities${answer.cut ? ", and more" : ""}`);
        this.more.hidden = !answer.cut || this.limit === ROWS_MAX;
        const key = JSON.stringify(answer.columns ?? []);
        if (key !== this.#columns) {
            this.#columns = key;
            this.table.columns([...this.base(), ...(answer.columns ?? []).map((column, i) => ({
                name: column.name, title: column.unit ? `${column.name} (${column.unit})` : column.name, hint: column.type, number: true, of: (row) => text_of(row.values?.[i]), by: (row) => sorts(row.values?.[i]) }))]);
        }
        this.table.rows(answer.rows);
    }
    async complete() {
        try {
            const lists = await Promise.all([this.page.api.all("components", "components"), this.page.api.all("templates", "templates")]);
            this.terms.replaceChildren(...lists.flatMap((list, i) => list.map((each) => h("option", { value: (i ? "template=" : "") + each.name }))));
        } catch { /* the box works without proposals */ }
    }
    close() { clearTimeout(this.#timer); this.stop?.(); }
}

class Entity {
    #known = new Map(); #values = new Map(); #shape = "";
    constructor(page) {
        this.page = page;
        this.title = h("h2");
        this.problem = h("p", { class: "problem", role: "alert" });
        this.about = h("div", { class: "row" });
        this.tree = h("div", { class: "tree" });
        this.body = h("div");
        this.element = h("div", { class: "side" }, h("div", { class: "section" }, h("div", { class: "row" }, this.title), this.about, this.problem), this.tree, this.body);
        page.api.all("components", "components").then((list) => { for (const each of list) this.#known.set(each.name, each); this.#shape = ""; }, () => {});
        this.choose(page.get("entity"));
    }
    choose(handle) {
        this.stop?.();
        this.#shape = "";
        this.#values.clear();
        write(this.problem, "");
        if (!handle) {
            write(this.title, "Entity");
            this.about.replaceChildren();
            this.tree.replaceChildren();
            return this.body.replaceChildren(empty("Choose an entity", "Its family, its components with units, and what it replicates stand here."));
        }
        this.page.set({ entity: handle });
        write(this.title, handle);
        this.stop = this.page.api.poll(ENTITY_MS, async (signal) => this.show(await this.page.api.get("entities/" + encodeURIComponent(handle).replace("%3A", ":"), null, signal)), (fault) => {
            write(this.problem, fault.status === 404 ? "It lives no more. " + fault.message : fault.message);
        });
    }
    show(entity) {
        write(this.problem, "");
        write(this.title, `${entity.entity}  ${entity.template}`);
        const components = entity.components ?? [], shape = JSON.stringify([entity.entity, entity.path, entity.children, this.page.mayChange() && this.page.status?.may_edit, components.map((each) => [each.name, (each.fields ?? []).map((field) => field.name)])]);
        if (shape !== this.#shape) {
            this.#shape = shape;
            this.#values.clear();
            this.build(entity, components);
        }
        for (const component of components)
            for (const field of component.fields?.length ? component.fields : [{ name: "", value: component.text }]) this.value(component.name, field);
    }
    value(component, field) {
        const place = this.#values.get(component + "." + field.name);
        const text = text_of(field.value);
        if (!place || place.text === text) return;
        if (place.text !== undefined && !place.editing) { // a value that changed lights up once
            place.element.classList.remove("changed");
            void place.element.offsetWidth;
            place.element.classList.add("changed");
        }
        place.text = text;
        if (!place.editing) write(place.element, text);
    }
    build(entity, components) {
        this.about.replaceChildren(pill(entity.is_replicated ? "replicated" : "server only", entity.is_replicated ? "accent" : ""),
            h("a", { href: "#view=clients&entity=" + entity.entity }, "why does a client (not) see it?"));
        const line = (each) => h("button", { class: each.entity === entity.entity ? "chosen" : null, onclick: () => this.choose(each.entity) }, h("code", null, each.entity), h("span", { class: "note" }, each.template));
        let below = h("div", { class: "under" }, (entity.children ?? []).map(line), entity.children_cut ? h("p", { class: "note" }, "and more") : null);
        let tree = [line(entity), entity.children?.length ? below : null];
        for (const parent of [...(entity.path ?? [])].reverse()) tree = [line(parent), h("div", { class: "under" }, tree)];
        const is_family = (entity.path?.length ?? 0) + (entity.children?.length ?? 0) > 0;
        this.tree.replaceChildren(...(is_family ? tree : []).filter(Boolean));
        this.tree.hidden = !is_family;
        this.body.replaceChildren(...components.map((component) => this.component(entity, component)));
    }
    component(entity, component) {
        const known = this.#known.get(component.name) ?? {}, unit = component.unit ?? known.unit, comment = component.comment ?? known.comment;
        const may = this.page.mayChange() && this.page.status?.may_edit;
        const fields = component.fields?.length ? component.fields : component.type === "tag" ? [] : [{ name: "", kind: component.type, value: component.text }];
        return h("div", { class: "component" },
            h("div", { class: "row" }, h("b", null, component.name), h("span", { class: "chips" }, pill(component.type), component.replicated ? pill("sent", "accent") : null)),
            comment && h("div", { class: "about" }, comment),
            fields.length ? h("dl", null, fields.map((field) => {
                const shown = h("span", { class: "grow" }), place = { element: shown, text: undefined, editing: false };
                this.#values.set(component.name + "." + field.name, place);
                const edit = may ? h("button", { class: "button icon edit", title: "Edit this value", "aria-label": `Edit ${component.name} ${field.name}`, onclick: () => this.edit(entity, component, field, place, edit) }, icon("edit")) : null;
                return [h("dt", null, field.name || "value"), h("dd", null, shown, (field.unit ?? unit) && h("span", { class: "unit" }, field.unit ?? unit), edit)];
            })) : null);
    }
    edit(entity, component, field, place, button) {
        if (place.editing) return;
        place.editing = true;
        button.hidden = true;
        const input = h("input", { value: place.text ?? "", spellcheck: "false", "aria-label": `New value of ${component.name} ${field.name}` });
        place.element.replaceChildren(input);
        input.select();
        const path = component.name + (field.name && field.name !== "value" ? "." + field.name : "");
        const done = () => { place.editing = false; button.hidden = false; write(place.element, place.text ?? ""); button.focus(); };
        input.addEventListener("keydown", async (event) => {
            if (event.key === "Escape") return done();
            if (event.key !== "Enter") return;
            try {
                await this.page.api.post("put", { entity: entity.entity, path, value: input.value.trim() });
                write(this.problem, "");
                this.page.say(`${path} of ${entity.entity} is ${input.value.trim()}. The change is in the log.`);
                done();
                this.stop?.now();
            } catch (fault) {
                input.classList.add("wrong");
                write(this.problem, fault.message);
            }
        });
        input.addEventListener("blur", () => { if (place.editing) done(); });
    }
    close() { this.stop?.(); }
}

export function open(root, page) {
    const entity = new Entity(page);
    const query = new Query(page, (handle) => { entity.choose(handle); query.table.refresh(); });
    root.append(h("div", { class: "split" }, query.element, entity.element));
    page.on("restart", () => { query.begin(); });
    return { close() { query.close(); entity.close(); } };
}
