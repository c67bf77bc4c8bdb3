# SPDX-License-Identifier: MIT
"""test.py FOLDER [PICTURES]: is the site whole?

Each link of each page leads to a page, and to a place in it. Then headless Chromium opens pages from their files, through
its debugging pipe: "/" goes to the search, which finds what it must; no page is wider than a telephone; the console is
empty. With PICTURES some pages are kept there as PNG: 1280 and 360 pixels wide, light and dark."""
import html.parser
import os
import sys
import tempfile
import urllib.parse

from browser import Browser

FOLDER = os.path.abspath(sys.argv[1])
ADDRESS = "file://" + FOLDER + "/"
PICTURES = sys.argv[2] if len(sys.argv) > 2 else None
SHOWN = ["index.html", "games/tutorial/index.html", "net/interest/index.html", "proto/WIRE.html", "client/lua/index.html",
         "api/files.html", "api/query_8h.html", "api/structnet__draw.html", "games/MISTAKES.html"]
# What is searched, and the page that must be the first.
SEARCHES = [("interest", "net/interest/index.html"), ("ecs_world_create", "api/world_8h.html"),
            ("mistakes", "games/MISTAKES.html")]


class Page(html.parser.HTMLParser):
    """The links and the places of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value and not urllib.parse.urlsplit(value).scheme:
                self.links.add(value)
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)


def check_links():
    files = {os.path.relpath(os.path.join(folder, name), FOLDER)
             for folder, _, names in os.walk(FOLDER) for name in names}
    pages = {file: Page(os.path.join(FOLDER, file)) for file in sorted(files)
             if file.endswith(".html") and file not in ("header.html", "footer.html")}
    count, faults = 0, []
    for file, page in pages.items():
        for link in page.links:
            path, _, place = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(file), urllib.parse.unquote(path))) if path else file
            count += 1
            if target not in files:
                faults.append(f"{file}: {link}: no such page")
            elif place and urllib.parse.unquote(place) not in pages[target].places:
                faults.append(f"{file}: {link}: no such place")
    for fault in faults[:20]:
        print("docs:", fault, file=sys.stderr)
    print(f"links: {count} in {len(pages)} pages, {len(faults)} lead nowhere")
    assert count > 5000 and not faults
    return sorted(pages)


def check_search(browser):
    browser.be(1280, "light")
    for words, wanted in SEARCHES:
        browser.open(ADDRESS + "index.html")
        browser.press("/", "/")
        assert browser.value("document.activeElement.id") == "search", '"/" does not go to the search'
        browser.call("Input.insertText", text=words)
        first = browser.value("document.querySelector('#found a').href") or ""
        assert urllib.parse.urldefrag(first).url.endswith("/" + wanted), f"the search for {words} finds {first} first"
        browser.keep("search_" + words)
        browser.loaded = False
        browser.press("Enter", "\r")
        while not browser.loaded:
            browser.receive()
        assert browser.value("location.pathname").endswith("/" + wanted), browser.value("location.href")
    browser.open(ADDRESS + "index.html?q=nothingisnamedso")
    assert browser.value("document.querySelector('#found').textContent") == "nothing found"
    print(f"search: {len(SEARCHES)} words, each finds its page")


def check_widths(browser, pages):
    """No page of the tree is wider than a telephone; colours follow the system's."""
    for page in pages:
        browser.be(360, "dark")
        browser.open(ADDRESS + page)
        width = browser.value("document.documentElement.scrollWidth")
        assert width <= 360, f"{page} is {width} pixels wide on a screen of 360"
    dark = browser.value("getComputedStyle(document.body).backgroundColor")
    browser.be(360, "light")
    light = browser.value("getComputedStyle(document.body).backgroundColor")
    assert dark != light, f"dark and light are {dark}"
    browser.value("document.querySelector('#menu').click()")
    browser.keep("tree_360")
    shown = browser.value("getComputedStyle(document.querySelector('nav')).display")
    assert shown == "block", "the button opens no tree"
    print(f"widths: {len(pages)} pages fit into 360 pixels")


def main():
    pages = check_links()
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile, PICTURES)
        try:
            check_search(browser)
            check_widths(browser, [page for page in pages if not page.startswith(("source/", "api/"))] + SHOWN)
            for page in SHOWN if PICTURES else []:
                for width, scheme in ((1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")):
                    browser.be(width, scheme)
                    browser.open(ADDRESS + page)
                    browser.keep(f"{page.replace('/', '_')[:-5]}_{width}_{scheme}")
            assert not browser.said, "the console is not empty: " + browser.said[0]
        finally:
            browser.end()
    print("console: empty")


main()
