"""A study to send out and take back: answers that were scored in every way."""

from __future__ import annotations

from analysts import make_answers
from running import TEXT, answers, write
from stores import GOOD, POOR, opened, score

from genaipa.files.stamps import now
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import Event, new_event_id

SENTENCE = "We never sell what we know about you."
ANNOTATED = """
  Q1: {silent: false, answer: A sentence that is nobody else's., sections: ["1"]}
"""


def study_with_scores(license_: str = "CC0") -> list[Event]:
    """Make a run in the working folder about a document under this license; the scores of its answers in effect.

    Of its two answers one has none; the other has a correction, a second person's score with a note, an adjudication
    and two verdicts of a judge.
    """
    assert SENTENCE in TEXT
    write("policies/acme.yaml", f"company: ACME\nlicense: {license_}\n")
    kept = answers(make_answers("See section 1.", "It does not say.", annotations=ANNOTATED))
    digest = next(record.digest for record in kept if record.question == "Q1")
    verdicts = [
        Event(new_event_id(), now(), "score", f"robot{n}", digest, values=GOOD, scorer="machine") for n in (1, 2)
    ]
    decided = Event(new_event_id(), now(), "adjudication", "ada", digest, values=GOOD, independent=False)
    noted = score("bo", digest, GOOD, note='Two lines\nof <b>"notes"</b>', seconds=31.5, suggested={"reference": 1.0})
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([score("ada", digest, GOOD), score("ada", digest, POOR), noted, decided, *verdicts])
    return everything_in()


def everything_in(home: str = ".") -> list[Event]:
    """The scores in effect of a workspace, in an order that does not depend on when they came."""
    with opened(f"sqlite:///{home}/scores.db") as store:
        return sorted(
            effective_scores_and_adjudications(event for _, event in store.read_numbered_events()),
            key=lambda event: (event.time, event.id),
        )
