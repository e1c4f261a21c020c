"""Help inside the window: tutorial, glossary, versions and licences, the text of a problem report."""
