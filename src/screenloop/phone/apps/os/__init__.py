"""The operating system as an app; see `screenloop.phone.apps`."""
