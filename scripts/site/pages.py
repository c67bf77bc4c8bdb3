# SPDX-License-Identifier: MIT
"""The pages of the tree as a site, which needs no server: `scripts/docs` calls this.

    pages.py frame ROOT FOLDER      what doxygen puts around its pages: FOLDER/header.html, footer.html, style.css
    pages.py build ROOT FOLDER      all pages, FOLDER/api being doxygen's; a link that leads nowhere is an error

cmark-gfm turns markdown into HTML. Here each page gets its anchors and its links: to a page, of a header to doxygen's,
of another file to a copy of its text. Names of files between backticks are links, too. index.js has what the search
looks through: sections, functions and types."""
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = [("", "Shoal"), ("games", "Games"), ("server", "Server"), ("client", "Client"), ("ecs", "Simulation"),
          ("net", "Network"), ("proto", "Wire and log"), ("tests", "Tests"), ("scripts", "Scripts"),
          (".github", "Project")]
INCLUDES = ("ecs/base/include", "ecs/include", "proto/include", "net/include", "client/library/include")
PICTURES = (".png", ".gif", ".svg")
LEFT_OUT = (".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/")


def place_of(page):
    """Where a page of markdown lies in the site. A folder with a dot would be hidden by some hosts."""
    page = re.sub(r"^\.github/", "project/", page)
    return re.sub(r"README\.md$", "index.html", page) if page.endswith("README.md") else page[:-3] + ".html"


def label_of(page):
    folder, name = posixpath.split(page)
    if name != "README.md":
        return name[:-3]
    return posixpath.basename(folder) if "/" in folder else "Overview"


class Site:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.pages = sorted(page for page in self._list() if not page.startswith(LEFT_OUT))
        self.headers, self.sources, self.index, self.faults = {}, set(), [], []

    def _list(self):
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if not re.match(r"build|\.git$|\.cache$", name)]
            for name in files:
                if name.endswith(".md"):
                    yield os.path.relpath(os.path.join(folder, name), self.root).replace(os.sep, "/")

    def write(self, place, text):
        path = os.path.join(self.folder, place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    # ---- what is around each page ----

    def tree(self, up, here):
        """All pages by folder; those around `here` are open."""
        parts = [f'<a class="top" href="{up}api/files.html">Headers</a>']
        for folder, title in GROUPS:
            pages = [page for page in self.pages if (page.split("/")[0] == folder if folder else "/" not in page)]
            links = "".join(self._leaf(page, up, here) for page in sorted(pages, key=self._order))
            if not folder:
                parts.insert(0, links)
            else:
                is_open = " open" if here and here.split("/")[0] == folder else ""
                parts.append(f"<details{is_open}><summary>{title}</summary>{links}</details>")
        return "".join(parts)

    @staticmethod
    def _order(page):
        folder, name = posixpath.split(page)
        return folder, name != "README.md", name

    def _leaf(self, page, up, here):
        current = ' aria-current="page"' if page == here else ""
        folder, name = posixpath.split(page)
        depth = folder.count("/") + ("/" in folder and name != "README.md")
        return f'<a class="d{depth}" href="{up}{place_of(page)}"{current}>{label_of(page)}</a>'

    def frame(self, up, title, here):
        """The parts before and behind the text of a page."""
        head = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title}</title><link rel="stylesheet" href="{up}style.css">
<script defer src="{up}index.js"></script><script defer src="{up}page.js"></script></head>
<body data-up="{up}"><header><button id="menu" aria-label="pages" aria-expanded="false">&#9776;</button>
<a class="name" href="{up}index.html">Shoal</a>
<input id="search" type="search" placeholder="search  ( / )" aria-label="search" autocomplete="off" spellcheck="false">
<ol id="found" hidden></ol></header><nav>{self.tree(up, here)}</nav><main>
"""
        return head, "</main></body></html>\n"

    # ---- links ----

    def read_tags(self):
        """Doxygen's pages: of a header by its path, of functions and types for the search."""
        tags = xml.etree.ElementTree.parse(os.path.join(self.folder, "tags.xml")).getroot()
        for compound in tags:
            name, kind, file = compound.findtext("name"), compound.get("kind"), compound.findtext("filename")
            file = file if file.endswith(".html") else file + ".html"
            if kind == "file":
                path = os.path.relpath(compound.findtext("path") + name, self.root)
                self.headers[path] = "api/" + file
                self.index.append([re.sub(r"^.*include/", "", path), "", "api/" + file, "header"])
            elif kind == "struct":
                self.index.append([name, "", "api/" + file, "struct"])
            for member in compound.findall("member"):
                if kind == "file" and member.get("kind") in ("function", "typedef", "enumeration", "define"):
                    at = "api/" + member.findtext("anchorfile") + "#" + member.findtext("anchor")
                    self.index.append([member.findtext("name") or "enum", "", at, member.get("kind")])

    def target_of(self, path):
        """Where a file or folder of the tree is in the site; None: nowhere."""
        full = os.path.join(self.root, path)
        if path in self.headers:
            return self.headers[path]
        if path.endswith(".md") and path in self.pages:
            return place_of(path)
        if os.path.isdir(full):
            readme = posixpath.normpath(posixpath.join(path, "README.md"))
            if readme in self.pages:
                return place_of(readme)
            self.sources.add(path)
            return "source/" + path.rstrip("/") + "/index.html"
        if not os.path.isfile(full):
            return None
        if path.endswith(PICTURES):
            place = re.sub(r"^\.github/", "project/", path)
            os.makedirs(os.path.dirname(os.path.join(self.folder, place)), exist_ok=True)
            shutil.copyfile(full, os.path.join(self.folder, place))
            return place
        self.sources.add(path)
        return "source/" + path + ".html"

    def link(self, page, target, place):
        """A link of a page of markdown, as the site has it."""
        if re.match(r"[a-z]+:|#", target):
            return target
        path, _, anchor = target.partition("#")
        found = self.target_of(posixpath.normpath(posixpath.join(posixpath.dirname(page), path)))
        if not found:
            self.faults.append(f"{page}: {target}: no such file")
            return target
        return posixpath.relpath(found, posixpath.dirname(place) or ".") + ("#" + anchor if anchor else "")

    def named_file(self, page, name):
        """What a name between backticks means: seen from the page, from the top, or as an #include."""
        if not re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", name) or not re.search(r"[./]", name.strip(".")):
            return None
        for folder in (posixpath.dirname(page), "", "tests", *INCLUDES):
            path = posixpath.normpath(posixpath.join(folder, name))
            if not path.startswith("..") and os.path.exists(os.path.join(self.root, path)) and "build" not in path[:5]:
                return self.target_of(path)
        return None

    # ---- pages ----

    def page(self, page):
        place = place_of(page)
        up = "../" * place.count("/")
        body = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", os.path.join(self.root, page)],
                              capture_output=True, encoding="utf-8", check=True).stdout
        body = re.sub(r'<a href="\.\./\.\./(actions|deployments)/[^"]*"><img [^>]*></a>\s*', "", body)  # badges of the host
        body = re.sub(r'(href|src)="([^"]+)"',
                      lambda match: f'{match[1]}="{self.link(page, html.unescape(match[2]), place)}"', body)

        def name(match):
            target = match[1] is None and self.named_file(page, html.unescape(match[2]))
            if not target or target == place:
                return match[0]
            return f'<a href="{posixpath.relpath(target, posixpath.dirname(place) or ".")}">{match[0]}</a>'

        body = re.sub(r"(<(?:a|pre)\b.*?</(?:a|pre)>)|<code>([^<]+)</code>", name, body, flags=re.S)
        body = re.sub(r"<table>.*?</table>", r'<div class="wide">\g<0></div>', body, flags=re.S)
        body, sections = self.anchors(body)
        title = sections[0][0] if sections else label_of(page)
        for heading, anchor, text in sections:
            self.index.append([heading, " ".join(text.split()), place + (anchor and "#" + anchor), page])
        head, foot = self.frame(up, html.escape(title), page)
        self.write(place, head + body + f'<p class="origin">{page}</p>' + foot)

    @staticmethod
    def anchors(body):
        """Headings get GitHub's anchors. @return the body, and (heading, anchor, text) of each section."""
        used, sections = {}, []

        def heading(match):
            plain = html.unescape(re.sub(r"<[^>]+>", "", match[2]))
            slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            used[slug] = used.get(slug, -1) + 1
            slug += f"-{used[slug]}" if used[slug] else ""
            sections.append([plain, slug if sections else "", match.end()])
            mark = f'<a class="anchor" href="#{slug}" aria-hidden="true">#</a>'
            return f'<h{match[1]} id="{slug}">{match[2]} {mark}</h{match[1]}>'

        marked = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, body, flags=re.S)
        ends = [start for _, _, start in sections[1:]] + [len(body)]
        return marked, [(plain, slug, html.unescape(re.sub(r"<[^>]+>", " ", body[start:end])))
                        for (plain, slug, start), end in zip(sections, ends)]

    def _entry(self, path, name, base):
        """What is in a folder: a link, if the site has it."""
        text = html.escape(name)
        if path not in self.sources and path not in self.headers and not {path, path + "/README.md"} & set(self.pages):
            return text
        return f'<a href="{posixpath.relpath(self.target_of(path), base)}">{text}</a>'

    def source(self, path):
        """The text of a file, or what is in a folder."""
        full, is_folder = os.path.join(self.root, path), os.path.isdir(os.path.join(self.root, path))
        place = "source/" + path + ("/index.html" if is_folder else ".html")
        if is_folder:
            base = posixpath.dirname(place)
            names = sorted(name for name in os.listdir(full) if name[0] != "." and not name.startswith("build"))
            entries = (f"<li>{self._entry(posixpath.join(path, name), name, base)}</li>" for name in names)
            body = f"<ul>{''.join(entries)}</ul>"
        else:
            with open(full, encoding="utf-8", errors="replace") as file:
                body = f"<pre><code>{html.escape(file.read())}</code></pre>"
        head, foot = self.frame("../" * place.count("/"), html.escape(path), None)
        self.write(place, f"{head}<h1>{html.escape(path)}</h1>{body}{foot}")

    def build(self):
        self.read_tags()
        structs = {name for name, _, _, kind in self.index if kind == "struct"}
        self.index = [entry for entry in self.index if entry[3] != "typedef" or entry[0] not in structs]
        for page in self.pages:
            self.page(page)
        for path in sorted(self.sources):
            self.source(path)
        index = json.dumps(self.index, ensure_ascii=False, separators=(",", ":"))
        self.write("index.js", f"const SHOAL_INDEX = {index};\n")
        shutil.copyfile(os.path.join(HERE, "page.js"), os.path.join(self.folder, "page.js"))
        for fault in self.faults:
            print("docs:", fault, file=sys.stderr)
        print(f"docs: {len(self.pages)} pages, {len(self.headers)} headers, {len(self.sources)} sources, "
              f"{len(self.index)} entries of the search")
        return 1 if self.faults else 0


def main():
    command, root, folder = sys.argv[1:]
    site = Site(os.path.abspath(root), os.path.abspath(folder))
    if command == "build":
        sys.exit(site.build())
    head, foot = site.frame("../", "$title", None)
    site.write("header.html", head.replace("<main>", '<main class="api"><h1>$title</h1>'))
    site.write("footer.html", foot)
    shutil.copyfile(os.path.join(HERE, "style.css"), os.path.join(site.folder, "style.css"))


if __name__ == "__main__":
    main()
