// The matches of a host: "Play" takes a seat; who has the host's token sees all, and opens inspectors.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const at = (id) => document.getElementById(id);
const say = (text) => { at("say").textContent = text; };

async function ask(path, body) {
    const headers = body ? { "Content-Type": "application/json" } : {};
    if (token) headers.Authorization = "Bearer " + token;
    const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
    const json = await answer.json();
    if (!answer.ok) throw new Error(json.error);
    return json;
}

// The page of a match plays only what was built for browsers: its answer comes before a seat is held.
async function checkPage({ match }) {
    const { game } = await ask(`m/${match}/play/info`);
    const built = await fetch(`m/${match}/game/${game}.wasm`, { method: "HEAD" });
    if (built.status === 404) throw new Error(`${game} was not built for browsers: play it with shoal-client`);
}

async function play(game, match) {
    say("Looking for a match of " + game + " ...");
    try {
        if (match) await checkPage(match);
        location.assign((await ask("v1/join", { game, request: crypto.randomUUID?.() ?? String(Math.random()) })).page);
    } catch (fault) {
        say(fault.message);
    }
}

function cell(row, text, link) {
    const td = row.insertCell();
    const inner = link ? td.appendChild(document.createElement("a")) : td;
    inner.textContent = text;
    if (link) inner.href = link;
}

function show(list) {
    at("games").replaceChildren(...list.games.map(({ game }) => {
        const button = document.createElement("button");
        button.textContent = "Play " + game;
        button.onclick = () => play(game, list.matches.find((match) => match.game === game && match.state !== "ended"));
        return button;
    }));
    const rows = at("matches");
    rows.replaceChildren();
    for (const match of list.matches) {
        const row = rows.insertRow();
        cell(row, match.game);
        cell(row, `${match.players} of ${match.seats}`);
        cell(row, match.why ? `${match.state}: ${match.why}` : match.state);
        cell(row, match.address);
        cell(row, match.match, match.token && `m/${match.match}/#token=${match.token}`);
    }
}

for (;;) {
    try {
        show(await ask("v1/matches"));
    } catch (fault) {
        say(fault.message);
    }
    await new Promise((then) => setTimeout(then, 2000));
}
