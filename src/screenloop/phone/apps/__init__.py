"""The mocked apps: one declaration each, in one file or in several with these endings.

| file                  | holds                                                                   |
|-----------------------|-------------------------------------------------------------------------|
| `<app>.py`            | pages and flows; gives out `State` and `app`, what `phone.boot` installs |
| `<app>_state.py`      | rows, state, the app object, rules that change nothing                   |
| `<app>_actions.py`    | actions and queries: all that a tool call or a bound touch can do        |
| `<app>_seed.py`       | what a new phone has: rows of the seed, or the facts that its texts tell |
| `<app>_views.py`      | its own widgets, and what several of its pages draw alike                |
| `<app>_<noun>.py`     | the pages of one noun, where `<app>.py` would grow too long              |

`contacts.py` is a whole app in one file: read it first. An app is split when a file passes about
400 lines. Apps may import another app's `_state` and `_actions`, never its pages.
"""
