"""The app `calendar`; see `screenloop.phone.apps`."""
