"""The pages: what is asked, and which template shows it."""
