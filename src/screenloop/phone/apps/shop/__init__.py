"""The app `shop`; see `screenloop.phone.apps`."""
