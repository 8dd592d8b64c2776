"""The app `wallet`; see `screenloop.phone.apps`."""
