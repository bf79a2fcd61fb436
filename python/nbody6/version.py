"""The version of the package and of the library that it belongs to: NB6_VERSION of nbody6/run/nbody6.h."""

VERSION = "0.1.0"
