"""File formats: strict YAML, JSON, CSV and spreadsheets, read and written safely."""
