"""What Streamlit reads of every installed package as a desk starts, read once for all desks that are forked."""

from __future__ import annotations

from streamlit.components.v2 import manifest_scanner

_FOUND = manifest_scanner.scan_component_manifests()
manifest_scanner.scan_component_manifests = lambda max_workers=None: _FOUND
