"""Tasks over the shop alone: looking around, the cart, addresses, reviews."""

from __future__ import annotations

from screenloop.actions import Answer
from screenloop.criteria import AnswerIs, Date, Money, Number, Text
from screenloop.phone.apps.messages.seed import dollars, spoken
from screenloop.phone.apps.shop import actions as shop
from screenloop.phone.apps.shop import state as look_ups
from screenloop.phone.apps.shop.state import State, found, totals_of
from screenloop.suites.phone_core import template
from screenloop.suites.phone_core.template import Draft, Pack, WorldView, added, call, changed, look
from screenloop.suites.phone_core.worlds import money

pack = Pack("shopping")

STREETS = ("8 Mill Lane", "51 Quay Street", "17 Chapel Hill", "3 Garden Row")


# ---- looking around ----------------------------------------------------------------------------


@pack.template("wish_for_product", apps=("shop",))
def wish_for_product(w: WorldView) -> Draft:
    """Put a product on the wish list."""
    s = w.state(State)
    product = w.pick(s.products, lambda p: all(p.id != wish.product for wish in s.wishes))
    return Draft(
        goal=f"Remember the {product.name} from Nimbus for me as something that I wish for.",
        params={"product": product.id},
        checks=(added("shop.wishes", f"{product.name} is on the wish list", product=product.id),),
        golden=(call(shop.wish, product=product.id, on=True),),
    )


@pack.template("forget_wish", apps=("shop",))
def forget_wish(w: WorldView) -> Draft:
    """Take a product off the wish list."""
    s = w.state(State)
    wished = w.pick(s.wishes)
    name = s.products[wished.product].name
    return Draft(
        goal=f"I got the {name} for my birthday, so I do not have to wish for it any more.",
        params={"product": wished.product},
        checks=(template.removed("shop.wishes", f"{name} is off the wish list", id=wished.id),),
        golden=(call(shop.wish, product=wished.product, on=False),),
    )


@pack.template("cost_of_wishes", apps=("shop",))
def cost_of_wishes(w: WorldView) -> Draft:
    """Add up the prices of the wish list."""
    s = w.state(State)
    cents = sum(s.products[wish.product].price_cents for wish in s.wishes)
    return Draft(
        goal="What would all the things that I wish for at Nimbus cost together, one of each and "
        "without delivery?",
        params={"cents": cents},
        checks=(AnswerIs(to=Money(cents), says="The sum of the prices"),),
        golden=(look(look_ups.list_wishes), Answer(text=dollars(cents))),
    )


@pack.template("pieces_left", apps=("shop",))
def pieces_left(w: WorldView) -> Draft:
    """Tell how many pieces of a product there are."""
    product = w.pick(w.state(State).products, lambda p: p.stock > 0)
    return Draft(
        goal=f"How many pieces of the {product.name} does Nimbus have left?",
        params={"product": product.id},
        checks=(AnswerIs(to=Number(value=product.stock), says="The number of pieces"),),
        golden=(look(look_ups.get, product=product.id), Answer(text=str(product.stock))),
    )


@pack.template("cheapest_in_stock", apps=("shop",))
def cheapest_in_stock(w: WorldView) -> Draft:
    """Compare the prices of one kind of product."""
    words = w.one_of("lamp", "backpack", "headphones", "keyboard", "jacket", "chair")
    first, *dearer = found(w.state(State), words, "", "price_up", in_stock=True)
    if first.price_cents == dearer[0].price_cents:
        raise ValueError(f"two products of kind {words} are the cheapest")
    others = tuple(product.name for product in dearer)
    return Draft(
        goal=f'If I search Nimbus for "{words}", which product that I could get right now costs '
        "least, and how much is it?",
        params={"kind": words, "product": first.id},
        checks=(
            AnswerIs(
                to=Text(first.name, mode="contains", others=others), says="The cheapest product"
            ),
            AnswerIs(to=Money(first.price_cents), says="Its price"),
        ),
        golden=(
            look(look_ups.search, text=words, sort="price_up", in_stock=True),
            Answer(text=f"{first.name}, {dollars(first.price_cents)}"),
        ),
    )


@pack.template("cost_of_cart", apps=("shop",))
def cost_of_cart(w: WorldView) -> Draft:
    """Tell what the cart costs, delivery included."""
    cents = totals_of(w.state(State), "standard").total
    return Draft(
        goal="If I ordered what is in my cart at Nimbus with standard delivery, how much would I "
        "have to pay in all?",
        params={"cents": cents},
        checks=(AnswerIs(to=Money(cents), says="The total with delivery"),),
        golden=(look(look_ups.get_cart), Answer(text=dollars(cents))),
    )


@pack.template("when_ordered", apps=("shop",))
def when_ordered(w: WorldView) -> Draft:
    """Tell the day and the price of an order, told by what was in it."""
    order = w.pick(w.state(State).orders, lambda o: o.id not in ("order5", money.PACKED))
    item = w.rng.choice(order.items)
    day = money.day_of(w, order.placed_at)
    return Draft(
        goal=f"On which day did I order the {item.name}, and how much was that whole order?",
        params={"order": order.id},
        checks=(
            AnswerIs(to=Date(day), says="The day of the order"),
            AnswerIs(to=Money(order.total_cents), says="What the order cost"),
        ),
        golden=(
            look(look_ups.list_orders),
            look(look_ups.get_order, order=order.id),
            Answer(text=f"On {spoken(day)}, for {dollars(order.total_cents)}"),
        ),
    )


# ---- the cart ------------------------------------------------------------------------------------


@pack.template("put_in_cart", apps=("shop",))
def put_in_cart(w: WorldView) -> Draft:
    """Put a product in the cart, in a colour and a number."""
    s = w.state(State)
    quantity = w.one_of(2, 3)
    product = w.pick(
        money.buyable(w, 40_000, quantity), lambda p: all(p.id != line.product for line in s.cart)
    )
    colour = w.rng.choice(product.colours[1:])
    return Draft(
        goal=f"I want {quantity} pieces of the {product.name} in {money.colour_named(colour)}. Put "
        "them with the things that I am about to buy, but do not order yet.",
        params={"product": product.id, "colour": colour, "quantity": quantity},
        checks=(
            added("shop.cart", f"{product.name} is in the cart", weight=2, product=product.id),
            added("shop.cart", f"In {colour}", product=product.id, colour=colour),
            added("shop.cart", f"{quantity} pieces", product=product.id, quantity=quantity),
        ),
        golden=(call(shop.add, product=product.id, colour=colour, quantity=quantity),),
    )


@pack.template("rethink_cart", apps=("shop",))
def rethink_cart(w: WorldView) -> Draft:
    """Drop one line of the cart, change another, take a wish instead."""
    s = w.state(State)
    dropped, kept = w.sample(s.cart, 2)
    quantity = kept.quantity + w.one_of(1, 2)
    wished = w.pick(s.wishes, lambda wish: all(wish.product != line.product for line in s.cart))
    names = [s.products[row.product].name for row in (dropped, kept, wished)]
    return Draft(
        goal=f"About my cart at Nimbus: forget the {names[0]}, make it {quantity} of the "
        f"{names[1]}, and take the {names[2]} that I have been wishing for instead.",
        params={"dropped": dropped.id, "kept": kept.id, "wished": wished.product},
        checks=(
            template.removed("shop.cart", f"{names[0]} is out of the cart", id=dropped.id),
            changed("shop.cart", kept.id, f"{quantity} of {names[1]} are in it", quantity=quantity),
            added("shop.cart", f"{names[2]} is in it", product=wished.product, quantity=1),
        ),
        allowed=("shop.wishes",),
        golden=(
            call(shop.remove, line=dropped.id),
            call(shop.set_quantity, line=kept.id, quantity=quantity),
            call(shop.wish_to_cart, product=wished.product),
        ),
    )


# ---- after buying --------------------------------------------------------------------------------


@pack.template("review_purchase", apps=("shop",))
def review_purchase(w: WorldView) -> Draft:
    """Write a review of something bought."""
    order = w.pick(w.state(State).orders, lambda o: o.id in money.DELIVERED)
    item = w.rng.choice(order.items)
    stars, text = w.one_of(
        (5, "Better than I had hoped for."),
        (4, "Good, only the box was torn."),
        (3, "It does what it should, not more."),
        (2, "It looked better in the picture."),
    )
    return Draft(
        goal=f"Let other buyers know what I think of the {item.name} that I got: {stars} out of "
        f'5 stars, and the words "{text}"',
        params={"order": order.id, "product": item.product, "stars": stars},
        checks=(
            added(
                "shop.reviews",
                f"{item.name} has {stars} stars",
                weight=2,
                product=item.product,
                order=order.id,
                stars=stars,
            ),
            added("shop.reviews", "The words are right", product=item.product, text=Text(text)),
        ),
        golden=(call(shop.review, order=order.id, product=item.product, stars=stars, text=text),),
    )


@pack.template("move_and_redirect", apps=("shop",))
def move_and_redirect(w: WorldView) -> Draft:
    """Save a new address, make it the default, and send the waiting order there."""
    label = w.one_of("New flat", "Parents", "Summer house")
    city, street = w.one_of("Sunvale", "Mirador", "Port Alma"), w.rng.choice(STREETS)
    postcode = f"20{w.rng.randrange(100, 1000)}"
    address = f"address{len(w.state(State).addresses) + 1}"
    name = w.state(State).addresses[money.HOME].name
    return Draft(
        goal=f"Nimbus should from now on deliver to {street}, {postcode} {city} by default. Save "
        f'that as "{label}", in my name, {name}, and have the order that is still being packed '
        "sent there, too.",
        params={"street": street, "postcode": postcode, "city": city},
        checks=(
            added(
                "shop.addresses",
                "The address is saved",
                label=Text(label),
                name=Text(name),
                street=Text(street),
                city=Text(city),
                postcode=postcode,
            ),
            template.value_is("shop.default_address", "It is the default", address),
            changed("shop.orders", money.PACKED, "The order goes there", address=address),
        ),
        golden=(
            call(
                shop.add_address,
                label=label,
                name=name,
                street=street,
                city=city,
                postcode=postcode,
            ),
            call(shop.make_default, address=address),
            call(shop.readdress, order=money.PACKED, address=address),
        ),
    )
