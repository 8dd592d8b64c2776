"""A model: clears the timer, then adds as many minutes as the goal says."""

import re

from kitchen.suite import ADD, CLEAR
from screenloop.actions import Finish
from screenloop.messages import Reply


class Patient:
    """Reads the goal and replies in whatever dialect `render` writes."""

    name = "patient"

    def __init__(self, *, blobs, render, actions, seed):
        if "tap" not in actions:
            raise TypeError("it can only tap")
        self._render = render

    async def complete(self, request, *, deadline_s):
        words = " ".join(message.text for message in request.messages)
        minutes = int(re.search(r"(\d+) minutes", words)[1])
        step = int(request.call_id.rpartition("/c")[2])
        action = CLEAR if step == 0 else ADD if step <= minutes else Finish(status="success")
        return Reply(text=self._render(action))

    async def preflight(self):
        pass

    async def close(self):
        pass
