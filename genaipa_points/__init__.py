"""Points of annotated answers, where they are shown or counted: a fact, a chapter, a panel, and who agrees on them."""
