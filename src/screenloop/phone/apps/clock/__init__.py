"""The app `clock`; see `screenloop.phone.apps`."""
