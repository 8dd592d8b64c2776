"""The app `gallery`; see `screenloop.phone.apps`."""
