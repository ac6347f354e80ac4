"""Policy-Detection: whether the text of a web page is a privacy policy."""
