"""Recorded judgments of public sets, replayed through Tribunal and compared with reference figures."""
