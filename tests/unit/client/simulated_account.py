"""An account's jobs behind GET /jobs, in simulated time: pauses pass at once, and requests are counted."""

import json
from itertools import islice

from foldnote.client.core.connection import Address, ServiceConnection
from foldnote.client.core.operations import Call, Run, ServiceResponse, Sleep
from foldnote.client.watching.poller import AccountPoller
from foldnote.settings import Profile


class SimulatedAccount:
    """Jobs, newest first, as a service lists them; some are known only by name.

    Attributes:
        batches: the batch of each job that is part of one.
        unlisted: jobs in no listing, as in deployments that omit subjobs.
        refusal: response to every request, if set.
    """

    def __init__(self, names, batches=None, unlisted=()) -> None:
        self.now = 1000.0
        self.names, self.batches, self.unlisted = list(names), batches or {}, set(unlisted)
        self.over: set[str] = set()
        self.asked: list[float] = []
        self.refusal: ServiceResponse | None = None
        self.connection = ServiceConnection(Profile("p", "http://p"), Address("http://p", None))
        self.poller = AccountPoller(clock=lambda: self.now)
        self.connection.pollers[None] = self.poller

    def perform(self, effect):
        match effect:
            case Sleep(seconds):
                self.now += seconds
                return None
            case Run(function):
                return function()
        self.asked.append(self.now)
        self.now += 0.01
        return self.refusal or self.answer(effect)

    def answer(self, call: Call) -> ServiceResponse:
        params = call.params
        if "jobName" in params:
            if params["jobName"] not in self.names:
                return ServiceResponse(404, {}, b'{"error": "no such job"}')
            return ServiceResponse(200, {}, json.dumps(self._record(params["jobName"])).encode())
        rows = [name for name in self.names if name not in self.unlisted]
        if "batch" in params:
            rows = [name for name in rows if self.batches.get(name) == params["batch"]]
        begin = rows.index(params["startKey"]) + 1 if "startKey" in params else 0
        page = list(islice(rows, begin, begin + int(params["limit"])))
        more = {"startKey": page[-1]} if begin + len(page) < len(rows) else {}
        return ServiceResponse(
            200, {}, json.dumps({"jobs": [*map(self._record, page)], "statuses": {}} | more).encode()
        )

    def _record(self, name: str) -> dict:
        status = "Complete" if name in self.over else "Running"
        return {"jobName": name, "type": "anarci", "status": status, "batch": self.batches.get(name)}

    def most_in_a_minute(self, after: float) -> int:
        """Return the largest number of requests in any minute that starts ``after`` seconds from the beginning."""
        late = [each for each in self.asked if each >= 1000.0 + after]
        return max((sum(begin <= each < begin + 60 for each in late) for begin in late), default=0)
