"""The app `messages`; see `screenloop.phone.apps`."""
