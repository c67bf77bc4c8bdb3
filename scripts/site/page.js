// SPDX-License-Identifier: MIT
// Each page: the button of the tree on a narrow screen, and the search over SHOAL_INDEX (index.js), without a server.
// "/" goes to the search, the arrows choose, Enter goes there, Escape leaves. ?q=WORDS searches at once.
(() => {
    const [input, list, menu] = ["search", "found", "menu"].map((id) => document.getElementById(id));
    const up = document.body.dataset.up;
    const shown_max = 25;
    let chosen = 0;

    // Of an entry [heading, text, place, kind]: 0 when a word is missing; whole names and headings of pages first.
    function weigh([heading, text, place, kind], words) {
        const title = heading.toLowerCase(), body = text.toLowerCase(), where = place.toLowerCase();
        const name = where.replace(/(\/index)?\.html(#.*)?$/, "").replace(/.*\//, ""); // of the page
        let weight = 0;
        for (const word of words) {
            const times = body.split(word).length - 1;
            if (!title.includes(word) && times === 0 && !where.includes(word)) return 0;
            weight += Math.min(times, 10);
            if (title === word) weight += 100;
            if (title.includes(word)) weight += 20;
            if (title.split(/[^a-z0-9]+/).includes(word)) weight += 20;
            if (name === word) weight += place.includes("#") ? 10 : 60;
        }
        return weight + (kind.endsWith(".md") && !place.includes("#") ? 15 : 0);
    }

    function excerpt(text, word) {
        const at = Math.max(0, text.toLowerCase().indexOf(word) - 50);
        return (at > 0 ? "… " : "") + text.slice(at, at + 150);
    }

    function item([heading, text, place, kind], word) {
        const row = document.createElement("li"), link = document.createElement("a");
        const parts = [["b", heading], ["i", kind], ["span", excerpt(text, word)]];
        link.href = up + place;
        for (const [tag, content] of parts) {
            const part = document.createElement(tag);
            part.textContent = content;
            link.append(part, " ");
        }
        row.append(link);
        return row;
    }

    function choose(index) {
        const rows = list.querySelectorAll("a");
        if (!rows.length) return;
        chosen = (index + rows.length) % rows.length;
        rows.forEach((row, i) => row.classList.toggle("chosen", i === chosen));
        rows[chosen].scrollIntoView({ block: "nearest" });
    }

    function search() {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        const found = words.length === 0 ? [] : SHOAL_INDEX.map((entry) => [weigh(entry, words), entry])
            .filter(([weight]) => weight > 0).sort((a, b) => b[0] - a[0]).slice(0, shown_max);
        list.replaceChildren(...found.map(([, entry]) => item(entry, words[0])));
        if (words.length && !found.length) {
            const none = document.createElement("li");
            none.textContent = "nothing found";
            list.append(none);
        }
        list.hidden = words.length === 0;
        choose(0);
    }

    input.addEventListener("input", search);
    input.addEventListener("focus", search);
    input.addEventListener("keydown", (event) => {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
        }
        if (event.key === "Enter") list.querySelectorAll("a")[chosen]?.click();
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && document.activeElement !== input) {
            event.preventDefault();
            input.focus();
            input.select();
        }
        if (event.key === "Escape") {
            list.hidden = true;
            input.blur();
        }
    });
    document.addEventListener("click", (event) => {
        if (!event.target.closest("header") || event.target.closest("#found a")) list.hidden = true;
    });
    menu.addEventListener("click", () => {
        menu.setAttribute("aria-expanded", document.body.classList.toggle("open"));
    });
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "center" });
    const asked = new URLSearchParams(location.search).get("q");
    if (asked) {
        input.value = asked;
        search();
    }
})();
