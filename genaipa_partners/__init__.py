"""One study, many houses: answers dealt to partners as blind packs, and their scores joined to one study again."""
