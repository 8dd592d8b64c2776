"""`phone-core`: everyday tasks over the nine first apps of the mocked phone."""
