"""Views: what each window shows, built from a study without any toolkit, and its export to files."""
