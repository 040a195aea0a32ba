"""Runs Chroma's own command line, as its program `chroma` does, without loading its Python client."""

import sys

import chromadb_rust_bindings

chromadb_rust_bindings.cli(["chroma", *sys.argv[1:]])
