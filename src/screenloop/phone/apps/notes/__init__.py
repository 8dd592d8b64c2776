"""The app `notes`; see `screenloop.phone.apps`."""
