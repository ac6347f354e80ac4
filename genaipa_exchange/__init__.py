"""Answers and scores in the forms of other programs, and back: a form is a file here and a line of `forms.FORMS`."""
