"""A form sends fields, and a question is asked before it is carried out."""
