"""The mocked apps: a folder each.

| file          | holds                                                                           |
|---------------|---------------------------------------------------------------------------------|
| `pages.py`    | pages; gives out `State` and `app`, what `phone.device.boot` installs           |
| `state.py`    | rows, state, the app object, rules that change nothing                          |
| `actions.py`  | actions and queries: all that a tool call or a bound touch can do               |
| `seed.py`     | what a new phone has: rows of the seed, or the facts that its texts tell        |
| `views.py`    | its own widgets, and what several of its pages draw alike                       |
| `flows.txt`   | reference walks, read by `kit.flow_text`                                        |
| `data.toml`   | texts and tables that need no Python, read by `kit.seed_text`                   |
| `<noun>.py`   | the pages of one noun, where `pages.py` would grow too long                     |

All are written with one import, `from screenloop.phone import kit as k`.
`contacts` is a whole app in one file: read it first. An app is split when a file passes about
400 lines. Apps may import another app's `state` and `actions`, never its pages.
"""
