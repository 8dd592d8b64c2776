"""The mocked phone: apps as pure state machines, painted without a browser."""
