"""Waves: the random part of a study's answers that people score, stored so that a larger one only adds.

A group is the answers of one system in one experiment. Each draw of a group puts all of its answers into an order,
once: its questions in random order, each question's documents in random order, each document's answers in random
order. The order goes round: in each round every question gives one answer, from each of its documents in turn. The
wave is the order's beginning: one of 64 is one of 32 and 32 more, and 64 answers to 32 questions are two to each,
about two documents. Chance is the same in all groups: what they were asked alike is in the waves of all, so that
systems and experiments can be compared in pairs. Answers that came after a draw wait for the next one, which goes
through questions and documents in the same order and moves nothing; each occasion (`runs.occasions`) has a draw of its
own, so that these can be compared in pairs, too. Where documents fall into strata, such as sectors, a draw is of one
stratum: each has its share of the wave, and begins with another question, so that together they go round the questions.

An answer is known by its digest (`Record.digest`), so that equal texts are scored once; in an average they weigh as
often as they occur. The draw takes no notice of that: a text has one chance, π, however often it occurs, and every
occurrence has that π. A sum of y/π over the occurrences of what was drawn is then right on average.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from functools import cached_property
from itertools import chain, product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from genaipa.errors import DataError, OtherFormatError
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.html import format_one_line_repr
from genaipa.files.stamps import now
from genaipa.files.text import DAMAGE
from genaipa.runs.experiments import classify_experiment
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.answers import AnswerPool
from genaipa.stats.looks import UNFINISHED
from genaipa.stats.sampling import plan_cell_samples
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from genaipa.scoring.answers import PooledAnswer
    from genaipa.workspace import Workspace


SIZE = 64
"""Answers of each group in a wave by default."""
_GOLDEN = 0.6180339887498949
"""Multiples of it, but for their whole parts, are spread evenly from 0 to 1, however many there are."""
_DIGITS = 16
"""Digits of an answer's digest by which a wave knows it: two of a million are alike once in thirty million studies."""

SystemAndExperiment: TypeAlias = tuple[str, str]
"""A system, and an experiment (`runs.experiments`)."""
AnswerOrder: TypeAlias = dict[str, dict[str, list[str]]]
"""Question → document → answers, each in the order in which their turn comes."""


def digest_prefix_used_in_waves(digest: str) -> str:
    """Return the beginning of an answer's digest, by which waves know it."""
    return digest[:_DIGITS]


class WaveCell(NamedTuple):
    """A draw's answers to one question about one document: the first `taken` are in the wave, each by chance `pi`."""

    question: str
    document: str
    answers: list[str]
    taken: int
    pi: float


class WaveDraw(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One draw of a group: the order of its answers by then; the first `size` are in the wave.

    `wanted` is the size of the group's whole wave, as it was asked for, and `sizes` are the ones that its part in this
    draw has had, each larger than the one before. `back` is how many of them a view goes back
    (`Waves.fall_back_to_last_finished_sizes`). `stratum` names the documents that it was drawn from; empty for all.
    """

    system: str
    experiment: str
    wanted: int
    sizes: tuple[int, ...]
    seed: int
    time: str
    questions: AnswerOrder
    back: int = 0
    stratum: str = ""

    @property
    def wave_answer_count(self) -> int:
        """The number of its answers that are in the wave."""
        return self.sizes[-1 - self.back] if self.sizes else 0

    @property
    def system_and_experiment(self) -> SystemAndExperiment:
        """The group."""
        return self.system, self.experiment

    @property
    def population_size(self) -> int:
        """The number of answers that the draw was from."""
        return sum(len(answers) for documents in self.questions.values() for answers in documents.values())

    def iterate_question_document_cells(self) -> Iterator[WaveCell]:
        """Yield the draw's answers by question and document, and how many of them the wave takes, by what chance."""
        sizes = [[len(answers) for answers in documents.values()] for documents in self.questions.values()]
        for (question, documents), samples in zip(
            self.questions.items(), plan_cell_samples(sizes, self.wave_answer_count), strict=True
        ):
            for (document, answers), sample in zip(documents.items(), samples, strict=True):
                yield WaveCell(question, document, answers, sample.taken, sample.chance)


class Waves(msgspec.Struct, frozen=True, dict=True):
    """The waves of a workspace: every draw, the first of each group first. Without a draw, there is no wave."""

    draws: tuple[WaveDraw, ...] = ()

    def __repr__(self) -> str:
        return format_one_line_repr(
            "Waves",
            format_count(len(self.draws), "draw"),
            f"{format_count(len(self.all_wave_digest_prefixes), 'answer')} to be scored by people",
        )

    def __bool__(self) -> bool:
        """Whether anything was drawn."""
        return bool(self.draws)

    @cached_property
    def wave_digest_prefixes_by_group(self) -> dict[SystemAndExperiment, set[str]]:
        """Group → its answers that are in the wave, by the beginnings of their digests."""
        answers: defaultdict[SystemAndExperiment, set[str]] = defaultdict(set)
        for draw in self.draws:
            for cell in draw.iterate_question_document_cells():
                answers[draw.system_and_experiment].update(cell.answers[: cell.taken])
        return dict(answers)

    @cached_property
    def all_wave_digest_prefixes(self) -> frozenset[str]:
        """The answers that people are asked to score: those in the wave of any group."""
        return frozenset(chain.from_iterable(self.wave_digest_prefixes_by_group.values()))

    @cached_property
    def population_digest_prefixes_by_group(self) -> dict[SystemAndExperiment, set[str]]:
        """Group → the answers that it was drawn from."""
        answers: defaultdict[SystemAndExperiment, set[str]] = defaultdict(set)
        for draw in self.draws:
            for documents in draw.questions.values():
                answers[draw.system_and_experiment].update(chain.from_iterable(documents.values()))
        return dict(answers)

    @property
    def waves_at_first_and_latest_sizes(self) -> tuple[Waves, Waves]:
        """Return these waves as they were first drawn, and as they were asked for last, finished or not."""
        first, last = (
            tuple(msgspec.structs.replace(draw, back=max(len(draw.sizes) - 1, 0) * early) for draw in self.draws)
            for early in (True, False)
        )
        return Waves(first), Waves(last)

    def target_size(self, group: SystemAndExperiment) -> int:
        """Return the size of a group's wave, as it was asked for; 0 where nothing was drawn."""
        return max((draw.wanted for draw in self.draws if draw.system_and_experiment == group), default=0)

    def extend_groups_to_size(
        self,
        answers: Iterable[PooledAnswer],
        *,
        size_of_each_group: int | None,
        seed: int,
        time: str,
        scored_digests_to_leave_out: Collection[str] = (),
        stratum_by_document: Mapping[str, str] | None = None,
        day_by_run: Mapping[str, str] | None = None,
    ) -> Waves:
        """Extend these waves to `size_of_each_group`, with draws from the answers that are in none yet.

        `size_of_each_group` is that of each group; None leaves groups theirs, and gives new ones `SIZE`. Where a group
        has several draws, each has its share of it. None ever gets smaller, so that answers that came later may make a
        group's wave a little larger than `size_of_each_group`. Answers that people have `scored` (digests) before the
        draw are not drawn from: chance had no part in them, and they count as themselves. `seed` is that of the first
        draw, and kept. With `stratum_by_document`, document → stratum, there is a draw for each, of as many answers as
        its share, rounded up, and one for each of the `day_by_run` (run → day).
        """
        answers = list(answers)
        population = _places_of_answers_by_group(answers)
        answer_days = {
            answer.digest: min((day_by_run or {}).get(occurrence.run, "") for occurrence in answer.occurrences)
            for answer in answers
        }
        draws = list(self.draws)
        seed = draws[0].seed if draws else seed
        for group, questions in population.items():
            previous = self.population_digest_prefixes_by_group.get(group, set())
            every = {question for question, _ in questions.values()}
            turns = enumerate(sorted(set(stratum_by_document.values())) if stratum_by_document else [""])
            for (turn, stratum), day in product(turns, sorted({answer_days[answer] for answer in questions})):
                candidates = {
                    answer: at
                    for answer, at in questions.items()
                    if answer_days[answer] == day and (not stratum_by_document or stratum_by_document[at[1]] == stratum)
                }
                new = _shuffle_new_answers(
                    candidates, previous, scored_digests_to_leave_out, f"{seed}\0{0}", every, turn
                )
                if new:
                    draws.append(WaveDraw(*group, 0, (), seed, time, new, stratum=stratum))
        return Waves(
            tuple(_grow_draws_to_shares_of_group_size(draws, dict.fromkeys(population, size_of_each_group or 0)))
        )

    def fall_back_to_last_finished_sizes(
        self, answer_digests: Collection[str], scored_digests: Collection[str]
    ) -> Waves:
        """Return these waves; one that is not finished as it was when it was smaller, if people finished that.

        `answer_digests` are the digests there are, and `scored_digests` the ones people have scored. Whoever lets a
        finished wave grow keeps a random part that way, and what is scored of the rest is beside it.
        """
        if not self.draws:
            return self
        present = frozenset(map(digest_prefix_used_in_waves, answer_digests))
        lacking = present.difference(map(digest_prefix_used_in_waves, scored_digests))
        return Waves(tuple(_fall_back_to_last_finished_size(draw, present, lacking) for draw in self.draws))


def _fall_back_to_last_finished_size(draw: WaveDraw, present: Collection[str], unscored: Collection[str]) -> WaveDraw:
    for back in range(len(draw.sizes)):
        earlier = msgspec.structs.replace(draw, back=back)
        members = [
            answer
            for cell in earlier.iterate_question_document_cells()
            for answer in cell.answers[: cell.taken]
            if answer in present
        ]
        if sum(answer in unscored for answer in members) <= UNFINISHED * len(members):
            return earlier
    return msgspec.structs.replace(draw, back=0)


def _grow_draws_to_shares_of_group_size(
    draws: Sequence[WaveDraw], size_by_group: dict[SystemAndExperiment, int]
) -> Iterator[WaveDraw]:
    """Grow each draw to its share of its group's size; none gets smaller."""
    wanted: defaultdict[SystemAndExperiment, int] = defaultdict(int, size_by_group)
    whole: defaultdict[SystemAndExperiment, int] = defaultdict(int)
    for draw in draws:
        wanted[draw.system_and_experiment] = max(wanted[draw.system_and_experiment], draw.wanted)
        whole[draw.system_and_experiment] += draw.population_size
    for draw in draws:
        size = wanted[draw.system_and_experiment] or SIZE
        share = min(-(-size * draw.population_size // whole[draw.system_and_experiment]), draw.population_size)
        larger = (share,) if share > draw.wave_answer_count else ()
        yield msgspec.structs.replace(draw, wanted=size, sizes=(*draw.sizes, *larger))


AnswerPlaces: TypeAlias = dict[str, tuple[str, str]]
"""Answer → its question and document."""


def _places_of_answers_by_group(answers: Iterable[PooledAnswer]) -> dict[SystemAndExperiment, AnswerPlaces]:
    """Group → its answers; one that occurs at several questions or documents is at the first by name."""
    groups: defaultdict[SystemAndExperiment, AnswerPlaces] = defaultdict(dict)
    for answer in answers:
        for at in answer.occurrences:
            places = groups[at.system, classify_experiment(answer.kind, at.initialization, at.wording)]
            position = (at.question, at.document)
            earlier = places.get(answer.digest)
            places[answer.digest] = position if earlier is None else min(earlier, position)
    return {places: groups[places] for places in sorted(groups)}


def answer_count_of_largest_group(answers: Iterable[PooledAnswer]) -> int:
    """Return the number of answers of the largest group; 0 without an answer."""
    return max(map(len, _places_of_answers_by_group(answers).values()), default=0)


def _shuffle_new_answers(
    answer_places: AnswerPlaces,
    already_drawn_from: Collection[str],
    scored_digests_to_leave_out: Collection[str],
    seed: str,
    questions: Iterable[str],
    stratum_index: int,
) -> AnswerOrder:
    """Put the answers that are new into an order that the seed decides, whatever their order was.

    The order of `questions` begins elsewhere at each turn, evenly spread; a random order stays one by that.
    """
    seed_hash = hashlib.blake2b(f"{seed}\0".encode(), digest_size=8)

    def seeded_hash(*named: str) -> bytes:
        name_hash = seed_hash.copy()
        name_hash.update("\0".join(named).encode())
        return name_hash.digest()

    cells: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for digest, (question, document) in answer_places.items():
        if digest not in scored_digests_to_leave_out and digest_prefix_used_in_waves(digest) not in already_drawn_from:
            cells[question][document].append(digest)
    order = sorted(questions, key=seeded_hash)
    begins = int(stratum_index * _GOLDEN % 1 * len(order))
    return {
        question: {
            document: list(map(digest_prefix_used_in_waves, sorted(cells[question][document], key=seeded_hash)))
            for document in sorted(cells[question], key=lambda document: seeded_hash(question, document))
        }
        for question in (*order[begins:], *order[:begins])
        if question in cells
    }


def compute_wave_inclusion_and_chance(answers: pd.DataFrame, waves: Waves) -> pd.DataFrame:
    """Compute whether each row's answer is in its group's wave (`in_wave`), and by what chance it came there (`pi`).

    `answers` has the columns `system`, `experiment` and `answer` (a digest, or empty) of the tidy table; the result has
    its index. `pi`, above 0 to 1, is the chance by which an answer's turn comes within the wave
    (`Draw.iterate_question_document_cells`). It is NaN where the group's draws were not from this answer: it came
    later, was scored before, or can't be scored. Sums of y/π over the answers in the wave are unbiased over the draws.
    What only another group's wave brought up, a text that both gave, is not in this one.
    """
    import numpy as np
    import pandas as pd

    digests = answers["answer"].astype("category")
    texts = np.array([*map(digest_prefix_used_in_waves, digests.cat.categories), ""], dtype=object)[digests.cat.codes]
    groups: defaultdict[SystemAndExperiment, list[WaveCell]] = defaultdict(list)
    for draw in waves.draws:
        groups[draw.system_and_experiment] += draw.iterate_question_document_cells()
    result = pd.DataFrame({"in_wave": False, "pi": np.nan}, index=answers.index)
    for (system, experiment), cells in groups.items():
        rows = np.flatnonzero((answers["system"] == system) & (answers["experiment"] == experiment))
        cell_sizes = [len(cell.answers) for cell in cells]
        in_wave = np.concatenate([np.arange(len(cell.answers)) < cell.taken for cell in cells])
        pi = np.repeat([cell.pi for cell in cells], cell_sizes)
        positions = pd.Index(list(chain.from_iterable(cell.answers for cell in cells))).get_indexer(
            pd.Index(texts[rows])
        )
        result.iloc[rows[positions >= 0], 0], result.iloc[rows[positions >= 0], 1] = (
            in_wave[positions[positions >= 0]],
            pi[positions[positions >= 0]],
        )
    return result


def count_missing_population_answers(waves: Waves, digests: Iterable[str]) -> int:
    """Count the answers of the draws that are not among these any more."""
    return len(
        set()
        .union(*waves.population_digest_prefixes_by_group.values())
        .difference(map(digest_prefix_used_in_waves, digests))
    )


class WaveStanding(NamedTuple):
    """A group's wave now: its scorable answers, those in the wave, how many of these are scored, and the others.

    `outside` are scored and not in the random part, `late` are neither scored nor drawn from: they came after the draw.
    """

    system: str
    experiment: str
    answers: int
    wave: int
    scored: int
    outside: int
    late: int


def measure_standings_of_wave_groups(
    waves: Waves, answers: Iterable[PooledAnswer], scored_digests: Collection[str]
) -> list[WaveStanding]:
    """Measure each group's standing; `scored_digests` are the digests of answers that people have scored."""
    return [
        _measure_wave_standing(
            group,
            places.keys(),
            scored_digests,
            waves.wave_digest_prefixes_by_group.get(group, set()),
            waves.population_digest_prefixes_by_group.get(group, set()),
        )
        for group, places in _places_of_answers_by_group(answers).items()
    ]


def _measure_wave_standing(
    group: SystemAndExperiment,
    digests: Collection[str],
    scored_digests: Collection[str],
    wave_digest_prefixes: Collection[str],
    population_digest_prefixes: Collection[str],
) -> WaveStanding:
    wave = [digest for digest in digests if digest_prefix_used_in_waves(digest) in wave_digest_prefixes]
    inside = sum(digest in scored_digests for digest in wave)
    late = sum(
        digest not in scored_digests and digest_prefix_used_in_waves(digest) not in population_digest_prefixes
        for digest in digests
    )
    return WaveStanding(
        *group, len(digests), len(wave), inside, sum(digest in scored_digests for digest in digests) - inside, late
    )


def describe_wave_sizes(groups: Sequence[WaveStanding]) -> str:
    """Describe the part of their answers that waves ask for: `64 of 160 answers of each system and experiment`."""
    sizes = {(group.wave, group.answers) for group in groups}
    if len(sizes) == 1:
        wave, answers = sizes.pop()
        return f"{wave:,} of {answers:,} answers from each system and experiment"
    largest, wave = max(group.wave for group in groups), sum(group.wave for group in groups)
    answers = sum(group.answers for group in groups)
    return f"up to {largest:,} answers from each system and experiment, {wave:,} of {answers:,} in total"


WAVES = "waves.jsonl"
_FORMAT = 1
_REMEDY = (
    "restore it, or move it away; genaipa sample then draws from unscored answers, and existing scores still count."
)


class _WavesHead(msgspec.Struct):
    format: int
    sha256: str


def load_waves(workspace: Workspace) -> Waves:
    """Return the workspace's waves; none without the file. A DataError if anything but genaipa changed it."""
    path = workspace.home / WAVES
    try:
        return decode_waves(path, path.read_bytes())
    except FileNotFoundError:
        return Waves()
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None


def decode_waves(path: Path, content: bytes) -> Waves:
    """Return the waves in a file's content; a DataError if anything but genaipa changed it."""
    first, _, body = content.partition(b"\n")
    try:
        head = msgspec.json.decode(first, type=_WavesHead)
        if head.format > _FORMAT:
            raise OtherFormatError(path, head.format, _FORMAT)
        if head.sha256 == hashlib.sha256(body).hexdigest():
            decode = msgspec.json.Decoder(WaveDraw).decode
            return Waves(tuple(map(decode, body.splitlines())))
    except DAMAGE:
        pass
    raise DataError(
        path, f"was changed after genaipa wrote it, so it no longer shows what was drawn at random; {_REMEDY}"
    )


def encode_waves(waves: Waves) -> bytes:
    """Return the content of the file of these waves."""
    body = b"".join(msgspec.json.encode(msgspec.structs.replace(draw, back=0)) + b"\n" for draw in waves.draws)
    return msgspec.json.encode(_WavesHead(_FORMAT, hashlib.sha256(body).hexdigest())) + b"\n" + body


def save_waves(workspace: Workspace, waves: Waves) -> None:
    """Write the workspace's waves, whole or not at all; a DataError if they can't be written."""
    path = workspace.home / WAVES
    try:
        with open_for_atomic_write(path, durable=True) as file:
            file.write(encode_waves(waves))
    except OSError as error:
        raise DataError(path, f"can't be written ({error.strerror}).") from None


def draw_and_save_waves(
    workspace: Workspace,
    answers: Collection[PooledAnswer],
    scored_digests: Collection[str],
    *,
    size_of_each_group: int | None,
    seed: int,
    stratum_by_document: Mapping[str, str] | None = None,
    day_by_run: Mapping[str, str] | None = None,
) -> Waves:
    """Draw from the answers that are in no draw yet, let waves grow to `size_of_each_group`, and save the result.

    Without a `size_of_each_group` nothing is drawn as long as no group has more than `SIZE` answers: all of them are
    asked for. `scored_digests` are the digests of answers that people have scored. A DataError for a file that can't be
    used, or that is of another workspace.
    """
    waves = load_waves(workspace)
    if waves:
        _check_waves_belong_to_workspace(workspace, waves, answers)
    elif size_of_each_group is None and answer_count_of_largest_group(answers) <= SIZE:
        return waves
    extended = waves.extend_groups_to_size(
        answers,
        size_of_each_group=size_of_each_group,
        seed=seed,
        time=now(),
        scored_digests_to_leave_out=scored_digests,
        stratum_by_document=stratum_by_document,
        day_by_run=day_by_run,
    )
    if extended != waves:
        save_waves(workspace, extended)
    return extended


def _check_waves_belong_to_workspace(workspace: Workspace, waves: Waves, answers: Iterable[PooledAnswer]) -> None:
    """Raise a DataError where no answer of the draws is here: neither among these answers, nor in any other run."""
    source_answers = set().union(*waves.population_digest_prefixes_by_group.values())
    if not source_answers.isdisjoint(digest_prefix_used_in_waves(answer.digest) for answer in answers):
        return
    if source_answers.isdisjoint(
        map(digest_prefix_used_in_waves, AnswerPool(workspace, list_run_folders_oldest_first(workspace)).answers)
    ):
        problem = f"belongs to another workspace: none of the {len(source_answers):,} answers in its draws is here"
        raise DataError(workspace.home / WAVES, f"{problem}; {_REMEDY}")
