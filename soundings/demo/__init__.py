"""The example collection, taken the whole way."""
