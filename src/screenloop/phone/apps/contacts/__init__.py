"""The app `contacts`; see `screenloop.phone.apps`."""
