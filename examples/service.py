"""A service that grows: docs/tutorial-service.md finds out why.

Every request opens a session and renders a page. Pages are cached, 200 of them at most. Sessions are kept until their
user logs out, and most users just close the window.

python examples/service.py [--fixed] [--requests N]
"""

import argparse
import time
from collections import OrderedDict

PAGES_MAX = 200
SESSION_SECONDS = 0.2
pages = OrderedDict()
sessions = {}


class Session:
    def __init__(self, user):
        self.user = user
        self.opened = time.monotonic()
        self.history = bytearray(2000)  # GROWS


def page_render(name):
    if name not in pages:
        pages[name] = b"<html>" + name.encode() * 100
        if len(pages) > PAGES_MAX:
            pages.popitem(last=False)
    return pages[name]


def sessions_expire():
    """Sessions stand in the order in which they were opened."""
    now = time.monotonic()
    for user in list(sessions):
        if now - sessions[user].opened < SESSION_SECONDS:
            break
        del sessions[user]


def request_serve(number, fixed):
    user = f"user-{number}"
    sessions[user] = Session(user)
    page_render(f"page-{number % 500}")
    if number % 10 == 0:
        del sessions[user]  # logs out
    if fixed:
        sessions_expire()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="sessions expire")
    parser.add_argument("--requests", type=int, default=2000)
    arguments = parser.parse_args()
    for number in range(arguments.requests):
        request_serve(number, arguments.fixed)
        time.sleep(0.001)


if __name__ == "__main__":
    main()
