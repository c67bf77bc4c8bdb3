// SPDX-License-Identifier: MIT
// serve.mjs FOLDER SERVER [PORT]: for development. One origin, at 127.0.0.1, with a folder's files, shoal.js, and /play and /game of a
// shoal-server (its --http), or /v1 and /m of a shoal-host. Prints its address. On the internet nginx does it (server/play/README.md).
import {createServer, request} from "node:http";
import {connect} from "node:net";
import {readFile} from "node:fs/promises";
import {fileURLToPath} from "node:url";
import {extname, join, normalize} from "node:path";

const [folder, server, port = "0"] = process.argv.slice(2);
if (!server) {
    console.error("usage: node serve.mjs FOLDER http://127.0.0.1:PORT [PORT]");
    process.exit(2);
}
const to = new URL(server), here = fileURLToPath(new URL(".", import.meta.url));
const TYPES = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".png": "image/png", ".json": "application/json", ".wasm": "application/wasm"};
const isPassed = (path) => /^\/(play\b|(game|v1|m)\/)/.test(path);
const isOfHost = (path) => /^\/(v1|m)\//.test(path);
// The page is ours, so its Origin does not matter. A server is asked by its own name; a host by the page's, of which it makes links.
const headersOf = ({url, headers}) => isOfHost(url) ? headers : {...headers, host: to.host, origin: `http://${to.host}`};

async function answer(asked, to_page) {
    const path = normalize(decodeURIComponent(new URL(asked.url, "http://here").pathname));
    if (isPassed(path)) {
        const passed = request({host: to.hostname, port: to.port, path: asked.url, method: asked.method, headers: headersOf(asked)}, (from) => {
            to_page.writeHead(from.statusCode, from.headers);
            from.pipe(to_page);
        });
        passed.on("error", () => to_page.writeHead(502).end("the server does not answer"));
        return void asked.pipe(passed);
    }
    const file = path === "/shoal.js" ? join(here, path) : join(folder, path.endsWith("/") ? `${path}index.html` : path);
    try {
        const bytes = await readFile(file);
        to_page.writeHead(200, {"Content-Type": TYPES[extname(file)] ?? "application/octet-stream"}).end(bytes);
    } catch {
        to_page.writeHead(404).end(`there is no ${path}`);
    }
}

const listener = createServer((asked, to_page) => answer(asked, to_page).catch(() => to_page.writeHead(400).end()));
listener.on("upgrade", (asked, socket, head) => {
    if (!isPassed(asked.url)) return void socket.destroy();
    const line = connect(Number(to.port), to.hostname, () => {
        line.write(`GET ${asked.url} HTTP/1.1\r\n${Object.entries(headersOf(asked)).map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
        line.write(head);
        socket.pipe(line).pipe(socket);
    });
    for (const end of [socket, line]) end.on("error", () => { socket.destroy(); line.destroy(); });
});
listener.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/`));
