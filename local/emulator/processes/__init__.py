"""The functions' processes: forked from one that has the libraries, and started before they are needed."""
