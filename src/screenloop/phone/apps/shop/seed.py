"""What the shop sells and keeps, and what a new phone has of it: orders, addresses, a cart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec

from screenloop.phone import kit as k

ProductId = Annotated[str, k.Refers("shop.products")]
Category = Literal["kitchen", "home", "clothing", "tech", "books"]
CATEGORIES: tuple[tuple[Category, tuple[str, str], str], ...] = (
    ("kitchen", ("Kitchen", "厨房"), "mug"),
    ("home", ("Home", "家居"), "lamp"),
    ("clothing", ("Clothing", "服饰"), "jacket"),
    ("tech", ("Tech", "数码"), "headphones"),
    ("books", ("Books", "图书"), "book"),
)
"""Name, words, the kind of product that stands for it."""
Speed = Literal["standard", "express"]
OrderState = Literal["unpaid", "processing", "shipped", "delivered", "cancelled", "returned"]
COLOURS: dict[str, tuple[str, str]] = {
    "black": ("Black", "黑色"),
    "white": ("White", "白色"),
    "blue": ("Blue", "蓝色"),
    "green": ("Green", "绿色"),
    "red": ("Red", "红色"),
    "sand": ("Sand", "沙色"),
}


class Product(k.Record, frozen=True, kw_only=True):
    """Something for sale; the same on every phone of a world."""

    name: str
    brand: str
    kind: str
    category: Category
    price_cents: int
    was_cents: int
    """Price before it was reduced; 0 when it was not."""
    rating: int
    """Mean stars times ten."""
    ratings: int
    stock: int
    seed: int
    colours: tuple[str, ...]
    text: tuple[str, str]


class Opinion(k.Record, frozen=True, kw_only=True):
    """What another buyer wrote."""

    product: ProductId
    author: str
    stars: int
    text: tuple[str, str]
    day: str
    """ISO date."""


class Line(k.Record, frozen=True, kw_only=True):
    """One line of the cart."""

    product: ProductId
    colour: str
    quantity: int


class Item(k.Struct, frozen=True, kw_only=True):
    """One line of an order, with the price of that day."""

    product: ProductId
    name: str
    colour: str
    quantity: int
    price_cents: int


class Order(k.Record, frozen=True, kw_only=True):
    """An order and how far it has come."""

    number: str
    items: tuple[Item, ...]
    address: str
    """Id of the address it goes to."""
    speed: Speed
    note: str
    coupon: str
    discount_cents: int
    delivery_cents: int
    total_cents: int
    placed_at: int
    state: OrderState = "unpaid"
    receipt: str = ""
    """Id of the wallet's transaction."""
    reason: str = ""
    """Why it was cancelled or returned."""


class Address(k.Record, frozen=True, kw_only=True):
    """Where orders go."""

    label: str
    name: str
    street: str
    city: str
    postcode: str


class Wish(k.Record, frozen=True, kw_only=True):
    """Something on the wish list."""

    product: ProductId


class Review(k.Record, frozen=True, kw_only=True):
    """What the user wrote about something bought."""

    product: ProductId
    order: str
    stars: int
    text: str
    at_s: int


KINDS = msgspec.convert(
    k.read_data(__package__)["kinds"], tuple[tuple[str, Category, str, str, int, int], ...]
)
"""Kind, category, names of things, brand, lowest and highest price in dollars."""
SERIES = "Aster Birch Cobalt Drift Ember Fjord Grove Harbor Indigo Juniper".split()
TEXTS = msgspec.convert(k.read_data(__package__)["texts"], tuple[tuple[str, str], ...])
OPINIONS = msgspec.convert(
    k.read_data(__package__)["opinions"], tuple[tuple[int, tuple[str, str]], ...]
)


def seed_products(cast: k.Cast) -> Iterable[Product]:
    """Ten of each of twelve kinds; names and ids are the same in every world, prices are not."""
    rng = cast.rng("shop")
    for kind, category, nouns, brand, low, high in KINDS:
        names = nouns.split(",")
        for number, series in enumerate(SERIES):
            price = rng.randrange(low, high) * 100 + rng.choice((0, 50, 90, 99))
            reduced = rng.random() < 0.2
            colours = rng.sample(sorted(COLOURS), rng.randrange(2, 5)) if kind != "book" else []
            yield Product(
                name=f"{series} {names[number % len(names)]}",
                brand=brand,
                kind=kind,
                category=category,
                price_cents=price,
                seed=rng.randrange(10_000),
                was_cents=price * 5 // 4 // 10 * 10 if reduced else 0,
                rating=rng.randrange(32, 50),
                ratings=rng.randrange(4, 900),
                stock=0 if rng.random() < 0.06 else rng.randrange(3, 40),
                colours=tuple(colours),
                text=rng.choice(TEXTS),
            )


def seed_opinions(cast: k.Cast) -> Iterable[Opinion]:
    """Three opinions on each product."""
    rng = cast.rng("opinions")
    for number in range(1, len(KINDS) * len(SERIES) + 1):
        for stars, text in rng.sample(OPINIONS, 3):
            author = rng.choice(cast.people[10:]).name
            day = cast.day(-rng.randrange(4, 200))
            yield Opinion(
                product=f"product{number}", author=author, stars=stars, text=text, day=day
            )


def seed_addresses(cast: k.Cast) -> Iterable[Address]:
    """Home and work."""
    return [
        Address(
            label="Home",
            name="Robin Vale",
            street="14 Linden Row",
            city="Harbor City",
            postcode="20417",
        ),
        Address(
            label="Work",
            name="Robin Vale",
            street="230 Foundry Street",
            city="Lindenau",
            postcode="20655",
        ),
    ]


def _picks(cast: k.Cast, purpose: str, count: int) -> list[tuple[str, Product]]:
    """Return products in stock by id, the same ones each time."""
    stocked = [(f"product{n}", p) for n, p in enumerate(seed_products(cast), 1) if p.stock > 4]
    return cast.rng(purpose).sample(stocked, count)


def seed_cart(cast: k.Cast) -> Iterable[Line]:
    """Two lines."""
    for (product, row), quantity in zip(_picks(cast, "cart", 2), (1, 2), strict=True):
        yield Line(product=product, colour=(*row.colours, "")[0], quantity=quantity)


def seed_wishes(cast: k.Cast) -> Iterable[Wish]:
    """Three wishes."""
    return [Wish(product=product) for product, _ in _picks(cast, "wishes", 3)]


PAST = msgspec.convert(k.read_data(__package__)["past"], tuple[tuple[OrderState, int, Speed], ...])


def seed_orders(cast: k.Cast) -> Iterable[Order]:
    """Six orders, the oldest first: three delivered, one on its way, one being packed."""
    rng = cast.rng("orders")
    picks = iter(_picks(cast, "orders", 12))
    for number, (state, day, speed) in enumerate(PAST, start=1001):
        items = []
        for product, row in [next(picks) for _ in range(rng.randrange(1, 3))]:
            items.append(
                Item(
                    product=product,
                    name=row.name,
                    colour=(*row.colours, "")[0],
                    quantity=rng.randrange(1, 3),
                    price_cents=row.price_cents,
                )
            )
        sums = sum(i.price_cents * i.quantity for i in items)
        fee = delivery_cents(sums, speed)
        yield Order(
            number=f"N-{number}",
            items=tuple(items),
            address="address1",
            speed=speed,
            note="",
            coupon="",
            discount_cents=0,
            delivery_cents=fee,
            total_cents=sums + fee,
            state=state,
            placed_at=cast.at(day, f"{rng.randrange(9, 21):02d}:{rng.randrange(60):02d}"),
            reason="Changed my mind" if state == "cancelled" else "",
        )


FREE_FROM_CENTS = 6000
FEES: dict[Speed, int] = {"standard": 490, "express": 990}


def delivery_cents(items_cents: int, speed: Speed) -> int:
    """Return the fee; standard delivery is free from $60."""
    return 0 if speed == "standard" and items_cents >= FREE_FROM_CENTS else FEES[speed]


class Coupon(k.Struct, frozen=True, kw_only=True):
    """What a code is worth."""

    words: tuple[str, str]
    percent: int = 0
    off_cents: int = 0
    free_delivery: bool = False
    from_cents: int = 0
    """Worth of the items that it needs."""


COUPONS = {
    "WELCOME10": Coupon(words=("10% off your order", "订单九折"), percent=10),
    "FREESHIP": Coupon(words=("Free delivery, any speed", "免运费"), free_delivery=True),
    "SAVE15": Coupon(
        words=("$15 off from $80", "满80美元减15美元"), off_cents=1500, from_cents=8000
    ),
}


class Totals(k.Struct, frozen=True, kw_only=True):
    """What an order costs, in cents."""

    items: int
    discount: int
    delivery: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.items - self.discount + self.delivery


def totals(items_cents: int, speed: Speed, code: str) -> Totals:
    """Return what items cost with delivery and a coupon; a code that does not fit is worth 0."""
    coupon = COUPONS.get(code)
    delivery = delivery_cents(items_cents, speed) if items_cents else 0
    discount = 0
    if coupon is not None and items_cents >= coupon.from_cents:
        discount = items_cents * coupon.percent // 100 + coupon.off_cents
        delivery = 0 if coupon.free_delivery else delivery
    return Totals(items=items_cents, discount=discount, delivery=delivery)


ShortText = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]
LongText = Annotated[str, msgspec.Meta(max_length=300)]
