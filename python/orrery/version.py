"""The version of the program that the package belongs to, as in configure.ac."""

VERSION = "0.1.0"
