"""`phone-core`: everyday tasks over the eight first apps of the mocked phone."""
