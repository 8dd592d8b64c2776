"""What the shop keeps, the rules of its cart, and look-ups."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from screenloop.phone import kit as k
from screenloop.phone.apps.shop import seed

LineId = Annotated[str, k.Refers("shop.cart")]
OrderId = Annotated[str, k.Refers("shop.orders")]
AddressId = Annotated[str, k.Refers("shop.addresses")]
Quantity = Annotated[int, msgspec.Meta(ge=1, le=20)]
StarCount = Annotated[int, msgspec.Meta(ge=1, le=5)]
Sort = Literal["", "price_up", "price_down", "rating"]
"""Empty: as the shop puts them."""
MOST_FOUND = 40
"""Products that a look-up returns."""
CancelReason = Literal["Changed my mind", "Found it cheaper", "Ordered by mistake"]
ReturnReason = Literal["Does not fit", "Damaged", "Not as described", "No longer needed"]
SHIPPED_AFTER_S: dict[seed.Speed, int] = {"express": 60, "standard": 600}
DELIVERED_AFTER_S: dict[seed.Speed, int] = {"express": 1800, "standard": 86_400}
MERCHANT = "Nimbus"
OPEN_STATES = ("unpaid", "processing", "shipped")


class State(k.AppState):
    """The catalogue, the cart, and what was ordered."""

    products = k.Catalog(seed.Product, prefix="product", seed=seed.seed_products)
    opinions = k.Catalog(seed.Opinion, prefix="opinion", seed=seed.seed_opinions)
    cart = k.Table(seed.Line, prefix="line", seed=seed.seed_cart)
    orders = k.Table(seed.Order, prefix="order", seed=seed.seed_orders)
    addresses = k.Table(seed.Address, prefix="address", seed=seed.seed_addresses)
    wishes = k.Table(seed.Wish, prefix="wish", seed=seed.seed_wishes)
    reviews = k.Table(seed.Review, prefix="review")
    coupon: str = ""
    default_address: str = "address1"
    order_updates: bool = True


app = k.App("shop", State, title=("Nimbus", "云上商店"), icon="bag", tint="#d9480f")


# ---- rules -----------------------------------------------------------------------------------


def at(path: str) -> k.Go:
    """Return the move to a page by its path."""
    return k.Go(app="shop", path=path)


def online(ctx: k.Ctx) -> None:
    """Refuse where the phone has no network."""
    if not ctx.of(k.SystemState).online:
        ctx.refuse(ctx.t("You are offline", "当前没有网络"))


def items_cents(s: State) -> int:
    """Return what the cart's lines cost."""
    return sum(s.products[line.product].price_cents * line.quantity for line in s.cart)


def totals_of(s: State, speed: seed.Speed) -> seed.Totals:
    """Return what the cart costs with delivery and the coupon."""
    return seed.totals(items_cents(s), speed, s.coupon)


def found(
    s: State,
    text: str = "",
    category: str = "",
    sort: Sort = "",
    *,
    max_cents: int = 0,
    on_sale: bool = False,
    in_stock: bool = False,
) -> list[seed.Product]:
    """Return the products that fit, in order; empty arguments fit all."""
    words = text.casefold().split()
    rows = s.products.where(
        lambda p: (
            category in ("", p.category)
            and all(w in f"{p.name} {p.brand} {p.kind} {p.category}".casefold() for w in words)
            and (not max_cents or p.price_cents <= max_cents)
            and (not on_sale or p.was_cents > 0)
            and (not in_stock or p.stock > 0)
        )
    )
    if sort == "price_up":
        rows.sort(key=lambda p: p.price_cents)
    elif sort == "price_down":
        rows.sort(key=lambda p: -p.price_cents)
    elif sort == "rating":
        rows.sort(key=lambda p: (-p.rating, -p.ratings))
    return rows


def put_in_cart(s: State, ctx: k.Ctx, product: str, colour: str, quantity: int) -> None:
    """Add to the line of the same product and colour, or make one."""
    row = s.products[product]
    if colour not in (row.colours or ("",)):
        offered = ", ".join(row.colours) or ctx.t("one colour only", "仅一种颜色")
        ctx.refuse(ctx.t(f"{row.name} is offered in: {offered}", f"{row.name}可选颜色：{offered}"))
    same = s.cart.first(lambda x: x.product == product and x.colour == colour)
    wanted = quantity + (same.quantity if same else 0)
    in_stock(ctx, row, wanted)
    if same is not None:
        s.cart.update(same.id, quantity=wanted)
    else:
        s.cart.add(seed.Line(product=product, colour=colour, quantity=quantity))


def in_stock(ctx: k.Ctx, product: seed.Product, quantity: int) -> None:
    """Refuse more than there is."""
    if product.stock == 0:
        ctx.refuse(ctx.t(f"{product.name} is out of stock", f"{product.name}已售罄"))
    if quantity > product.stock:
        ctx.refuse(
            ctx.t(
                f"Only {product.stock} of {product.name} left",
                f"{product.name}仅剩{product.stock}件",
            )
        )


def in_cart(s: State, product: str, colour: str) -> int:
    """Return how many of a product in a colour are in the cart."""
    return sum(x.quantity for x in s.cart if x.product == product and x.colour == colour)


# ---- queries -------------------------------------------------------------------------------------


@app.query(
    "products.search",
    tool="Find products by words; sorts by price or rating; at most 40.",
    shows="/",
)
def search(
    s: State,
    ctx: k.Ctx,
    text: str,
    sort: Sort = "",
    max_price_cents: int | None = None,
    in_stock: bool | None = None,
) -> list[dict[str, object]]:
    """Return the products that fit, shortened."""
    return _short(found(s, text, "", sort, max_cents=max_price_cents or 0, in_stock=bool(in_stock)))


@app.query(
    "products.browse",
    tool="List the products of a category; sorts by price or rating.",
    shows="/c/{category}",
)
def browse(
    s: State,
    ctx: k.Ctx,
    category: seed.Category,
    sort: Sort = "",
    max_price_cents: int | None = None,
    in_stock: bool | None = None,
) -> list[dict[str, object]]:
    """Return the products of a category, shortened."""
    rows = found(s, "", category, sort, max_cents=max_price_cents or 0, in_stock=bool(in_stock))
    return _short(rows)


@app.query("products.offers", tool="List the reduced products.", shows="/offers")
def offers(s: State, ctx: k.Ctx) -> list[dict[str, object]]:
    """Return the reduced products, shortened."""
    return _short(found(s, on_sale=True))


def _short(rows: list[seed.Product]) -> list[dict[str, object]]:
    fields = ("id", "name", "brand", "category", "price_cents", "was_cents", "rating", "stock")
    return [{f: getattr(p, f) for f in fields} for p in rows[:MOST_FOUND]]


@app.query("products.get", shows="/p/{product}")
def get(s: State, ctx: k.Ctx, product: seed.ProductId) -> seed.Product:
    """Read one product with its colours."""
    return s.products[product]


@app.query("products.reviews", shows="/p/{product}/reviews")
def opinions(s: State, ctx: k.Ctx, product: seed.ProductId) -> list[seed.Opinion]:
    """Read the reviews of a product."""
    return s.opinions.where(lambda o: o.product == product)


@app.query("cart.get", shows="/cart")
def get_cart(s: State, ctx: k.Ctx) -> dict[str, object]:
    """Read the cart and what it costs with each delivery speed, in cents."""
    lines = [
        {
            "id": x.id,
            "product": x.product,
            "name": s.products[x.product].name,
            "colour": x.colour,
            "quantity": x.quantity,
            "price_cents": s.products[x.product].price_cents,
        }
        for x in s.cart
    ]
    return {
        "lines": lines,
        "coupon": s.coupon,
        "standard_cents": totals_of(s, "standard").total,
        "express_cents": totals_of(s, "express").total,
    }


@app.query("orders.list", tool="List the orders, the latest first.", shows="/orders")
def list_orders(s: State, ctx: k.Ctx, which: Literal["", "open", "done"] = "") -> list[seed.Order]:
    """Return the orders; open ones have not arrived yet."""
    rows = s.orders.where(lambda o: which == "" or (o.state in OPEN_STATES) == (which == "open"))
    return sorted(rows, key=lambda o: -o.placed_at)


@app.query("orders.get", shows="/orders/{order}")
def get_order(s: State, ctx: k.Ctx, order: OrderId) -> seed.Order:
    """Read one order."""
    return s.orders[order]


@app.query("addresses.list", tool="List the delivery addresses.", shows="/addresses")
def list_addresses(s: State, ctx: k.Ctx) -> list[dict[str, object]]:
    """Return the addresses and which is the default."""
    return [
        {**msgspec.structs.asdict(a), "default": a.id == s.default_address} for a in s.addresses
    ]


@app.query("wishes.list", shows="/wishes")
def list_wishes(s: State, ctx: k.Ctx) -> list[dict[str, object]]:
    """List the products on the wish list."""
    return [
        {"product": p.id, "name": p.name, "price_cents": p.price_cents}
        for p in (s.products[w.product] for w in s.wishes)
    ]
