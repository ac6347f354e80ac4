"""Made-up privacy policies, as many as wanted: a corpus to try things on, of nobody's words but ours.

Each is drawn from its number and the seed alone. They differ in what the company does, in what it keeps, shares and
promises, in which sections it leaves out, and in length; one in twenty is a later snapshot of the one before it with
the very same text.
"""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

from genaipa.policies.corpus import encode_corpus_line
from genaipa.policies.document import About, Document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FIRST = (
    *("Alder", "Birch", "Cobalt", "Dapple", "Ember", "Fennel", "Gannet", "Hazel", "Indigo", "Juniper", "Kestrel"),
    *("Larch", "Marlow", "Nettle", "Osprey", "Pebble", "Quill", "Rowan", "Saffron", "Teasel", "Umber", "Wren"),
)
_SECOND = (
    *("barn", "bridge", "brook", "cart", "dale", "field", "ford", "gate", "harbour", "lane", "market", "mill"),
    *("port", "quay", "ridge", "shelf", "stead", "trail", "well", "wick", "works", "yard"),
)
_SECTORS = {
    "shop": ("orders, delivery addresses and returns", "the goods you buy"),
    "health": ("symptoms, appointments and prescriptions", "the care you book"),
    "travel": ("trips, passport details and seat wishes", "the journeys you book"),
    "games": ("scores, friends and chat messages", "the games you play"),
    "banking": ("transactions, income and identity documents", "the accounts you hold"),
}
_COUNTRIES = ("DE", "FR", "GB", "IN", "US")
_SNAPSHOTS = 20
"""One in this many is a later snapshot with the text of the one before it."""
_LEFT_OUT = 0.25
"""Chance that a policy has nothing to say in a section."""

_TEXT = """\
## Information we collect

We collect the name, email address and telephone number that you give us, and {data}. Our servers note the address
of your device, its language and the pages that you open.

To provide {service} we need an account with an email address and a password. Beside it we hold {data}, and what our
support team writes down when you call.

{company} records {data}. We do not ask for your date of birth, and we do not read your contacts.

## How we use information

We use information to provide {service}, to answer you, and to find out which parts of the service are slow. We do
not use it for anything else.

Information serves to provide {service} and to recommend more of it. Recommendations are worked out by a program
from what people like you chose; you can turn them off in your settings.

Our analysts count visits and purchases by week and region. Decisions about credit or prices are never left to a
program alone.

## Sharing

We share information with companies that work for us, such as couriers and payment providers. Each has signed a
contract that binds it to this policy, and we look at their records once a year.

We do not sell information. We pass it on only to companies that host our servers, and to a court that orders us to.

Partners whose banners you see learn that you opened a page, and a number that stands for your browser. Their own
policies hold for what they do with it.

## Requests by governments

We hand over information to an authority only where a law obliges us to, and tell you before we do unless we are
forbidden to. In January we publish how many requests came in the year before.

An authority that wants information has to bring a written order. We examine each, and contest those that ask for
too much.

## How long we keep it

We keep your account for as long as you have it, and delete it {days} days after you close it. Invoices stay for ten
years, since the law asks for that.

Records of visits are deleted after {days} days. Everything else is kept until you ask us to delete it.

We keep information as long as we need it.

## Security

Traffic between your device and our servers is encrypted, and so are our backups. Only staff who need it can reach
{data}, and each access is noted.

Our staff are trained every year in how to handle personal information. An independent firm tests our servers each
spring.

We protect information by reasonable means. No service on the internet is perfectly safe.

## If something goes wrong

Should information fall into the wrong hands, we tell you by email within {hours} hours, and say what you can do. So
far this has not happened.

We report a security incident to the authority in charge, and put a notice on our website.

## Your choices

You can see, correct and download your information under Settings, and delete your account there. If something is
missing, write to us; we answer within {days} days.

You may withdraw your consent at any time by a link at the end of each email. Parts of the service that need it will
then stop working.

To have your information deleted, send a letter to our head office with a copy of an identity document.

## Cookies and analytics

We set a cookie that keeps you signed in, and, if you agree, another by which we count visits. The service works
without the second.

Our apps contain an analytics library of another company, which learns which buttons you press. It can't be turned
off.

## Aggregated information

Reports for our partners hold only sums over at least {days} people, from which nobody can be recognised.

Before we hand data to researchers, names are replaced by random numbers and some noise is added to the rest.

## Children

The service is not for people under 16. We close the account of anyone who turns out to be younger.

Children may use the service with the consent of a parent, whom we write to first.

## Changes and contact

We tell you of changes to this policy by email, {days} days before they hold. Complaints go to our privacy officer,
and if we can't agree, to the authority of your country.

We may change this policy at any time. The newest version is always on this page.

Write to the privacy team of {company} with any question. Every message gets a number and an answer.
"""
"""Sections, each with paragraphs to draw from."""


@cache
def _sections() -> dict[str, list[str]]:
    """Title of a section → its paragraphs."""
    sections = (section.strip().split("\n\n") for section in _TEXT.split("## ") if section)
    return {title: [" ".join(text.split()) for text in texts] for title, *texts in sections}


def made_up(number: int, seed: int = 0) -> Iterator[Document]:
    """Draw N made-up policies; the first ones of a larger number are the same."""
    before: Document | None = None
    for count in range(number):
        if before is not None and count % _SNAPSHOTS == _SNAPSHOTS - 1:
            about = before.about
            later = About(
                company=about.company, date=f"{int(about.date[:4]) + 1}{about.date[4:]}", language="en",
                license=about.license, groups=about.groups,
            )  # fmt: skip
            yield Document(f"{before.name}-{later.date[:4]}", before.text, later)
            continue
        before = _policy(count, random.Random(f"{seed}|{count}"))
        yield before


def _policy(count: int, draw: random.Random) -> Document:
    company = draw.choice(_FIRST) + draw.choice(_SECOND)
    sector = draw.choice(list(_SECTORS))
    data, service = _SECTORS[sector]
    fill = {
        "company": company,
        "data": data,
        "service": service,
        "days": draw.choice((14, 30, 60, 90, 180)),
        "hours": draw.choice((24, 48, 72)),
    }
    paragraphs = [f"# Privacy policy of {company}", f"This policy says what {company} does with what it knows of you."]
    sections = _sections()
    kept = [title for title in sections if draw.random() > _LEFT_OUT] or ["Sharing"]
    for section, title in enumerate(kept, 1):
        variants = sections[title]
        chosen = draw.sample(variants, draw.randint(1, len(variants)))
        paragraphs += [f"## {section}. {title}", *(text.format(**fill) for text in chosen)]
    date = f"{draw.randint(2018, 2026)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
    about = About(
        company=company,
        date=date,
        language="en",
        license="Made up by genaipa; use it as you like.",
        groups={"sector": sector, "country": draw.choice(_COUNTRIES)},
    )
    return Document(f"{company.lower()}-{count:06d}", "\n\n".join(paragraphs) + "\n", about)


def write_policies(path: Path, number: int) -> Path:
    """Write a corpus of made-up policies into a .jsonl file; its path."""
    path.write_bytes(b"".join(map(encode_corpus_line, made_up(number))))
    return path
