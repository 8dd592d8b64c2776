"""The mocked apps: a folder each.

| file          | holds                                                                           |
|---------------|---------------------------------------------------------------------------------|
| `pages.py`    | pages and flows; gives out `State` and `app`, what `phone.device.boot` installs |
| `state.py`    | rows, state, the app object, rules that change nothing                          |
| `actions.py`  | actions and queries: all that a tool call or a bound touch can do               |
| `seed.py`     | what a new phone has: rows of the seed, or the facts that its texts tell        |
| `views.py`    | its own widgets, and what several of its pages draw alike                       |
| `<noun>.py`   | the pages of one noun, where `pages.py` would grow too long                     |

`contacts` is a whole app in one file: read it first. An app is split when a file passes about
400 lines. Apps may import another app's `state` and `actions`, never its pages.
"""
