// SPDX-License-Identifier: MIT
// The page /play: a match that one plays, by a link. #join=TOKEN is the token where the server asks for one, #name=NAME the name,
// #sent=MS,... when other matches sent the player on.
//
// What the tab keeps, in sessionStorage: the tokens that the server gave for the link's, from the first tick on (a phone kills a tab
// without a word): one for this match, one for later ones; and, while the page cannot be seen, the secret of its session.
import {Player, CONNECTING, PLAYING, RESUMING, ENDED, END_GOODBYE, END_LOST, END_UNREACHABLE, END_EXCHANGED, END_TRANSFERRED} from "./play.js";
import {placeView} from "./game.js";
import {paint} from "./paint.js";
import {Bindings, keyOf} from "./play_keys.js";
import {showTouch} from "./play_touch.js";
import {Sound} from "./play_sound.js";

const HIDDEN_MS = 250; // between two looks at the connection while nobody sees the page
const FACTS_MS = 500;
const JOIN_AGAIN_MS = 1000;
const AGAIN_MS = 30000; // a session can go on in another page for so long
const TRANSFERS_MAX = 6, TRANSFERS_MS = 60000; // so many are followed
const CURSORS = ["", "crosshair", "none"];
const WHEEL_STEP = 100; // of deltaY
const BAR_PIXELS = 54;
const TEXT_PIXELS = 13; // of a text, whose letters have 11 then
const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id.replaceAll("-", "_"), element]));
const context = page.picture.getContext("2d", {alpha: false});
const sticks = [0, 0, 0, 0];
const images = new Map();
const times = [];
let game = "", pages = [], tokens = [], player, bindings, sound, placed = null, seen = null, isOver = false, isUpright = false, pad_was_used = false, wheel = 0, stepped_ms = 0;

function say(text, isEnd = false) {
    page.note.hidden = text === "";
    page.said.textContent = text;
    page.again.hidden = !isEnd;
}

// ---- a session that another page of this tab began ----

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const bytesOf = (text) => new Uint8Array((text.match(/../g) ?? []).map((pair) => parseInt(pair, 16)));

function takeKept() {
    const kept = JSON.parse(sessionStorage.getItem("shoal-play") ?? "null");
    sessionStorage.removeItem("shoal-play");
    return kept?.game === game && Date.now() - kept.at < AGAIN_MS ? kept : null;
}

function keep() {
    const token = player.about().token, secret = isOver ? null : player.secret();
    if (secret) sessionStorage.setItem("shoal-play", JSON.stringify({game, token, secret: hex(secret), at: Date.now()}));
}

// A page that is seen goes on itself, and a copy of its tab must not.
function keepHidden() {
    if (document.hidden) keep();
    else sessionStorage.removeItem("shoal-play");
}

// The first one is shown when the page is loaded; the next one when that does not count.
function keepTokens(given) {
    tokens = given;
    sessionStorage.setItem("shoal-tokens", JSON.stringify(tokens));
}

// At the server that has the match: this page's own may be gone.
async function loadAgain(text) {
    isOver = true;
    say(text);
    if (player?.home) return void location.assign(`${pages[player.home]}#${new URLSearchParams({join: tokens[0], name: chosenName()})}`);
    while (!(await fetch("play/info").catch(() => null))?.ok) await new Promise((then) => setTimeout(then, JOIN_AGAIN_MS));
    location.reload();
}

const chosenName = () => sessionStorage.getItem("shoal-name") || localStorage.getItem("shoal-name") || "player";

// ---- controls ----

function listen() {
    addEventListener("keydown", (event) => {
        if (event.target instanceof HTMLInputElement) return void (event.key === "Escape" && closeChat());
        void sound.begin();
        // The browser's own, as Ctrl R, where the game does nothing with these.
        if ((event.ctrlKey && !bindings.byName.has("left ctrl")) || event.metaKey) return;
        if (event.code === "F1") toggleAbout();
        else if (event.code === "F11") return;
        else if (!event.repeat && bindings.press(keyOf(event), true)) { /* the game's */ }
        else if (keyOf(event) === "t" && player.tables.hasText && !bindings.byName.has("t")) openChat();
        else if (!bindings.byName.has(keyOf(event))) return;
        event.preventDefault();
    });
    addEventListener("keyup", (event) => bindings.press(keyOf(event), false));
    addEventListener("blur", () => bindings.release());
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointerleave", "pointercancel"]) page.picture.addEventListener(name, seePointer);
    page.picture.addEventListener("wheel", (event) => {
        wheel -= event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / WHEEL_STEP : event.deltaY;
        const steps = Math.trunc(wheel);
        wheel -= steps;
        if (steps) player.wheel(steps);
        event.preventDefault();
    }, {passive: false});
    page.picture.addEventListener("contextmenu", (event) => event.preventDefault());
    page.chat_open.addEventListener("click", openChat);
    page.chat.addEventListener("submit", (event) => {
        event.preventDefault();
        if (page.line.value.trim()) player.say(page.line.value.trim());
        closeChat();
    });
    page.sound.addEventListener("click", () => page.sound.setAttribute("aria-pressed", sound.toggle()));
    page.sound.setAttribute("aria-pressed", sound.isOn);
    page.full.addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.()));
    page.about_open.addEventListener("click", toggleAbout);
    page.named.addEventListener("submit", (event) => {
        event.preventDefault();
        localStorage.setItem("shoal-name", page.name.value.trim());
        sessionStorage.removeItem("shoal-name"); // that of the link
        player.leave(performance.now());
        setTimeout(() => loadAgain("Joining again"), 300);
    });
    page.again.addEventListener("click", () => loadAgain("Waiting for the server"));
}

function seePointer(event) {
    void sound.begin();
    if (!placed) return;
    const scale = page.picture.width / page.picture.clientWidth;
    const spot = {x: (event.offsetX * scale - placed.left) / placed.scale, y: (event.offsetY * scale - placed.top) / placed.scale};
    const isThere = event.type !== "pointerleave" && event.type !== "pointercancel";
    if (event.type === "pointerdown") {
        page.picture.setPointerCapture(event.pointerId);
        page.picture.focus();
    }
    player.pointer(isThere ? spot : null, event);
}

// The first controller that is used, and the sticks on the screen.
function readPads() {
    let used = sticks.some((value) => value !== 0) ? sticks : null;
    for (const each of navigator.getGamepads?.() ?? []) if (each?.mapping === "standard") used = bindings.readPad(each) ?? used;
    if (used || pad_was_used) player.sticks(...(used ?? [0, 0, 0, 0]));
    pad_was_used = used !== null;
}

function openChat() {
    bindings.release();
    page.chat.hidden = false;
    page.line.value = "";
    page.line.focus();
}

function closeChat() {
    page.chat.hidden = true;
    page.picture.focus();
}

function toggleAbout() {
    page.about.hidden = !page.about.hidden;
    page.name.value = sessionStorage.getItem("shoal-name") ?? localStorage.getItem("shoal-name") ?? "";
    showFacts();
}

function fill(list, rows, tags) {
    list.replaceChildren(...rows.flatMap((row) => row.map((text, i) => Object.assign(document.createElement(tags[i]), {textContent: text}))));
}

function showFacts() {
    if (page.about.hidden || isOver) return;
    const about = player.about(), sorted = [...times].sort((a, b) => a - b), at = (part) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
    fill(page.facts, [["round trip", `${about.rttMs} ms`], ["loss", `${about.lossPercent} %`], ["delay of the picture", `${about.delayMs} ms`],
        ["prediction before it", `${about.leadMs} ms`], ["corrections", about.corrections], ["came back", about.resumes],
        ["received", `${(about.inBytes / 1000).toFixed(0)} kB`], ["a frame takes", `${at(0.5)} ms (p99 ${at(0.99)} ms)`], ["tick", seen?.tick ?? 0]], ["dt", "dd"]);
    page.keys.replaceChildren(...player.tables.actions.map(({help, keys}) => {
        const row = document.createElement("tr");
        fill(row, [[help, keys]], ["td", "td"]);
        return row;
    }));
}

// ---- the picture ----

function resize() {
    const scale = devicePixelRatio || 1, [width, height] = [Math.round(innerWidth * scale), Math.round(innerHeight * scale)];
    if (page.picture.width !== width || page.picture.height !== height) [page.picture.width, page.picture.height] = [width, height];
    const {uprightWidth, uprightHeight} = player.game;
    isUpright = uprightWidth > 0 && height > width;
    placed = placeView(isUpright ? {viewWidth: uprightWidth, viewHeight: uprightHeight} : player.game, width, height);
    const lift = page.touch.hidden ? 0 : Math.max(placed.clip.top - BAR_PIXELS * scale, 0); // fingers are below it
    placed.top -= lift;
    placed.clip.top -= lift;
}

function note() {
    if (seen.error) return end(seen.error);
    if (seen.phase === ENDED && seen.end === END_LOST && seen.tick === 0) return void joinAgain();
    if (seen.phase === ENDED && seen.end === END_UNREACHABLE && tokens.length > 1) return void loadAgain("Joining again", keepTokens(tokens.slice(1)));
    if (seen.phase === ENDED && seen.end === END_EXCHANGED) return goOn();
    if (seen.phase === ENDED && seen.end === END_TRANSFERRED) return follow(player.about().transfer);
    if (seen.phase === ENDED) return end(seen.end === END_GOODBYE ? "The match is over." : refusal() || "The connection is lost.");
    const {still, token, later} = player.about();
    if (seen.phase === PLAYING) keepTokens([token, later || tokens.at(-1) || ""]);
    if (still) say(still);
    else if (seen.phase === RESUMING) say("The line is silent: connecting again");
    else if (seen.phase !== PLAYING) say(seen.phase === CONNECTING ? "Connecting" : "Joining the match");
    else say(seen.words || document.hidden ? "" : "Waiting for the match");
}

function refusal() {
    const {refusal} = player.about();
    return refusal.startsWith("the game files differ") ? refusal + ". The game's code in this page is of another build: build it again (scripts/web)" : refusal;
}

// The server keeps no place of a player whose line breaks before the first tick, so nothing is lost.
function joinAgain() {
    isOver = true;
    say("The line broke before the match began: joining again");
    setTimeout(() => loadAgain("Joining again"), JOIN_AGAIN_MS);
}

// Another version of the game goes on, and this player in it: with the code that the server has now.
function goOn() {
    keep();
    isOver = true;
    say("The game was changed: going on with it");
    location.reload();
}

// To the page of another match, with its token and nothing of this one.
function follow({page, token, why}) {
    const sent = (sessionStorage.getItem("shoal-sent") ?? "").split(",").filter((at) => Date.now() - at < TRANSFERS_MS);
    if (!page) return end("You go on in another match, which has no page for browsers.");
    if (sent.length >= TRANSFERS_MAX) return end(`Two matches sent you to and fro ${TRANSFERS_MAX} times in a minute.`);
    isOver = true;
    for (const key of ["shoal-play", "shoal-tokens"]) sessionStorage.removeItem(key);
    console.log(player.line());
    say(`Going on to another match${why ? `: ${why}` : ""}`);
    location.assign(`${page}#${new URLSearchParams({...token && {join: token}, name: chosenName(), sent: [...sent, Date.now()]})}`);
}

function end(text) {
    isOver = true;
    sessionStorage.removeItem("shoal-play");
    if (seen.end === END_GOODBYE) keepTokens(tokens.slice(-1));
    console.log(player.line());
    say(text, true);
}

function step(now_ms, scale) {
    if (isOver) return;
    const before = seen;
    stepped_ms = now_ms;
    seen = player.frame(now_ms, scale, TEXT_PIXELS * (devicePixelRatio || 1), isUpright);
    for (const line of seen.warnings ?? []) console.warn(line);
    page.fault.textContent ||= seen.warnings?.find((line) => /^\S+:\d+: /.test(line)) ?? ""; // of a file of the game
    if (!before || before.phase !== seen.phase || Boolean(before.words) !== Boolean(seen.words) || seen.phase !== PLAYING || seen.error) note();
}

function picture() {
    if (isOver) return;
    requestAnimationFrame(picture);
    const began = performance.now();
    resize();
    readPads();
    step(began, placed.scale);
    if (isOver || !seen.words) return;
    context.fillStyle = "#0b0e14";
    context.fillRect(0, 0, page.picture.width, page.picture.height);
    paint(context, seen.words, placed, images, TEXT_PIXELS * (devicePixelRatio || 1));
    sound.play(seen.heard);
    times.push(performance.now() - began);
    if (times.length > 600) times.shift();
    window.shoal.first ??= performance.now();
}

async function open() {
    const asked = new URLSearchParams(location.hash.slice(1)), info = await (await fetch("play/info")).json();
    if (!info.plays) throw new Error("this server has no place for players in browsers (it was built without libwslay)");
    history.replaceState(null, "", location.pathname); // the token is in no history
    keepTokens(asked.get("join") ? [asked.get("join")] : JSON.parse(sessionStorage.getItem("shoal-tokens") ?? "[]"));
    game = info.game;
    pages = [new URL("play", location.href).href, ...info.pages];
    const kept = takeKept(), urls = pages.map((page) => `${page.replace(/^http/, "ws")}/socket`);
    if (asked.get("sent")) sessionStorage.setItem("shoal-sent", asked.get("sent"));
    if (asked.get("name")) sessionStorage.setItem("shoal-name", asked.get("name"));
    player = await Player.open(`game/${game}.wasm`, {urls, name: chosenName(), token: kept?.token ?? tokens[0] ?? "", secret: kept ? bytesOf(kept.secret) : null});
    document.title = player.game.title;
    bindings = new Bindings(player.tables.actions, (action, isDown) => player.action(action, isDown));
    const files = new Map(player.pictures()[1]);
    sound = new Sound(player.tables, files);
    for (const [name, bytes] of files)
        if (name.endsWith(".png")) images.set(name, await createImageBitmap(new Blob([bytes], {type: "image/png"})).catch(() => null));
    page.picture.classList.add(...[CURSORS[player.tables.cursor]].filter(Boolean));
    page.chat_open.hidden = !player.tables.hasText;
    if (matchMedia("(pointer: coarse)").matches) showTouch(page, player.tables, bindings, sticks);
    window.shoal = {player, times, first: null, line: () => player.line(), seen: () => seen};
    listen();
    addEventListener("pagehide", keep);
    document.addEventListener("visibilitychange", keepHidden);
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
    // Browsers let timers of a hidden page wait for a minute, but not what comes by a socket.
    const stepHidden = () => { if (document.hidden && performance.now() - stepped_ms > HIDDEN_MS / 2) step(performance.now(), 0); };
    setInterval(stepHidden, HIDDEN_MS);
    player.onmessage = stepHidden;
    setInterval(showFacts, FACTS_MS);
    void navigator.wakeLock?.request("screen").catch(() => {});
    picture();
}

open().catch((fault) => say(fault.message, true));
