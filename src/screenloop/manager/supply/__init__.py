"""Supply: how Instances come to be, are kept ready, and go; decisions apart from doing."""
