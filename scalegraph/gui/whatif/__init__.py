"""The what-if panel."""
