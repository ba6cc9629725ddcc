"""Corrections to ministack, each with its reason.

They replace functions of ministack's modules, which have no types: hence the `Any` here.
"""
