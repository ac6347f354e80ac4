"""PolicyIE's labels: five intents, and the slots of two layers, each a role and mostly an attribute of it."""

from __future__ import annotations

OTHER = "Other"
INTENTS = (
    OTHER,
    "data-collection-usage",
    "data-sharing-disclosure",
    "data-storage-retention-deletion",
    "data-security-protection",
)

# All kinds of data, and those that are about people's data in safe keeping.
_KEPT = (
    "data-computer-device",
    "data-contact",
    "data-finance",
    "data-general",
    "data-other",
    "data-user-online-activities-profiles",
)
_RETAINED = (
    *_KEPT,
    "data-aggregated-nonidentifiable",
    "data-cookies-web-beacons-and-other-technologies",
    "data-location",
)
_DATA = (*_RETAINED, "data-demographic")
NONE = "none"
"""The attribute in a reply of a role that has none."""

TYPE_I: dict[str, tuple[str, ...]] = {
    "action": (),
    "data-provider": ("user", "third-party-entity"),
    "data-collector": ("first-party-entity",),
    "data-collected": _DATA,
    "data-sharer": ("first-party-entity",),
    "data-shared": _DATA,
    "data-receiver": ("third-party-entity",),
    "data-holder": ("first-party-entity", "third-party-entity"),
    "data-retained": _RETAINED,
    "data-protector": ("first-party-entity", "third-party-entity"),
    "data-protected": _KEPT,
    "storage-place": ("storage-place",),
    "retention-period": ("retention-period",),
    "protect-against": ("security-threat",),
}
TYPE_II: dict[str, tuple[str, ...]] = {
    "purpose-argument": (
        "advertising-marketing",
        "analytics-research",
        "basic-service-feature",
        "communications",
        "legal-requirement",
        "merge-acquisition",
        "other",
        "personalization-customization",
        "service-operation-and-security",
    ),
    "condition-argument": ("condition",),
    "polarity": ("negation",),
    "method": (
        "access-limitation",
        "encryptions",
        "general-safeguard-method",
        "protection-other",
        "user-authentication",
    ),
}
LAYERS: dict[str, dict[str, tuple[str, ...]]] = {"type-I": TYPE_I, "type-II": TYPE_II}
"""Layer → role → attributes (none of "action")."""
ROLES: dict[str, str] = {role: layer for layer, roles in LAYERS.items() for role in roles}
"""Role → its layer."""


def label_of(role: str, attribute: str) -> str:
    """The label of a role and an attribute as tags have it; empty for a combination that is no label."""
    attributes = LAYERS[ROLES[role]][role]
    if not attributes:
        return role if attribute == NONE else ""
    return f"{role}.{attribute}" if attribute in attributes else ""


def parts_of(label: str) -> tuple[str, str]:
    """The role and the attribute of a label, as a reply has them."""
    role, _, attribute = label.partition(".")
    return role, attribute or NONE


LABELS: dict[str, frozenset[str]] = {
    layer: frozenset(label_of(role, one) for role, attributes in roles.items() for one in attributes or (NONE,))
    for layer, roles in LAYERS.items()
}
"""Layer → its labels: 48 of type I, 16 of type II."""
ATTRIBUTES = (
    *dict.fromkeys(one for roles in LAYERS.values() for attributes in roles.values() for one in attributes),
    NONE,
)
"""All attributes, data's first; then "none"."""
