"""Points of annotated answers, where they are shown or counted: a panel of the desk, and who agrees on them."""
