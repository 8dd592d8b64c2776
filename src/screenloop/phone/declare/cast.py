"""The people, places and dates that a world's apps agree on; everything seeded flows from here."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from screenloop.types import Struct

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When every world begins: a Monday morning."""

FIRST = (
    "Ada Ben Chloe Dmitri Elena Felix Grace Hugo Iris Jonas Keiko Liam Maya Nadia Omar Priya "
    "Quinn Rosa Samir Tessa Umar Vera Wendy Xavier Yara Zane Anika Boris Clara Diego"
).split()
LAST = (
    "Park Okafor Lindgren Moreau Castillo Novak Haddad Ito Brandt Silva Fischer Mensah Kowalski "
    "Duarte Rossi Petrov Nakamura Olsen Farah Greene"
).split()
CITIES = ("Harbor City", "Lindenau", "Port Alma", "Northfield", "Sunvale", "Mirador")


class Member(Struct, frozen=True, kw_only=True):
    """One person that the apps know about."""

    name: str
    phone: str
    email: str
    city: str
    birthday: str
    """ISO day."""


class Cast:
    """What seeds draw on: named random streams, people, and times relative to the start."""

    def __init__(self, world: str, seed: int) -> None:
        self.world = world
        self.seed = seed
        self.start = START
        self.kept: dict[tuple[str, str], dict[str, Any]] = {}
        """Rows made from this cast once and shared by every device; see `state.Catalog`."""
        self.people = self._make_people(24)

    def rng(self, purpose: str) -> random.Random:
        """Return the random stream for a purpose; the same one each time it is asked for."""
        return random.Random(f"{self.world}/{self.seed}/{purpose}")

    def at(self, days: int, clock: str = "09:00") -> int:
        """Return the epoch second of a time of day, `days` from the start date."""
        hour, minute = map(int, clock.split(":"))
        midnight = self.start.replace(hour=0, minute=0)
        return int((midnight + timedelta(days=days, hours=hour, minutes=minute)).timestamp())

    def day(self, days: int) -> str:
        """Return the ISO date, `days` from the start date."""
        return (self.start + timedelta(days=days)).date().isoformat()

    def _make_people(self, count: int) -> tuple[Member, ...]:
        rng = self.rng("people")
        firsts = rng.sample(FIRST, count)
        people = []
        for number, first in enumerate(firsts):
            last = rng.choice(LAST)
            people.append(
                Member(
                    name=f"{first} {last}",
                    phone=f"555-{rng.randrange(1, 10)}{number:02d}-{rng.randrange(10_000):04d}",
                    email=f"{first.lower()}.{last.lower()}@example.org",
                    city=rng.choice(CITIES),
                    birthday=f"{rng.randrange(1960, 2006)}-{rng.randrange(1, 13):02d}-"
                    f"{rng.randrange(1, 29):02d}",
                )
            )
        return tuple(people)


@lru_cache(maxsize=256)
def cast(world: str, seed: int) -> Cast:
    """Return the Cast of a world; devices of one world share it."""
    return Cast(world, seed)
