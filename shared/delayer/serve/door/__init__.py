"""HTTP in: who may listen where, who calls, what a call is, and how it is answered."""
