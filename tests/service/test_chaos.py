"""Random kill -9 of the service and of runners while clients submit, stop, delete, list and download.

`FOLDNOTE_TEST_KILLS` is the number of kills (8 when it is not set), `FOLDNOTE_TEST_SEED` another order of them.
"""

import os

import pytest
from chaos import Clients, Killer, Ledger, check, free_port

KILLS = int(os.environ.get("FOLDNOTE_TEST_KILLS", "8"))
SEED = int(os.environ.get("FOLDNOTE_TEST_SEED", "45"))
KILL_S = 10
"""What a kill with its start afterwards takes at most, on a busy machine."""


@pytest.mark.timeout(300 + KILLS * KILL_S)
def test_random_kills_lose_nothing(make_service, capsys):
    service = make_service("--no-rate-limit", "--port", str(free_port()))
    ledger, killer = Ledger(), Killer(service, SEED)
    with Clients(service, ledger, SEED):
        killer.kill(KILLS)
    figures = check(service, ledger)
    with capsys.disabled():
        print(f"\n{dict(killer.counts)} killed; {len(ledger.acknowledged)} jobs acknowledged,")
        print(f"{dict(ledger.counts)}; {figures}")
    assert figures == dict.fromkeys(figures, 0), ledger.faults[:10]
