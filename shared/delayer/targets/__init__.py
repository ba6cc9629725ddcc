"""The targets an executor reaches: here an action is carried out."""
