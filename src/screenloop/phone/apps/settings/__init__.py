"""The app `settings`; see `screenloop.phone.apps`."""
