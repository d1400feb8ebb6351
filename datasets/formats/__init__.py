"""Encodings of single files, as pairs of pure functions: encode and decode, format and parse."""
