"""PI-Extract: its files and PrivacyGLUE's splits, texts placed on tokens, figures by layer, and whole runs."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from servers import reply
from size import size
from suiting import figures, keep, outcomes, suite

from genaipa.errors import DataError
from genaipa_suites.material import NOT_IN_THE_TEXT, UNPARSABLE, Item, Outcome, split_rows_into_training_and_validation
from genaipa_suites.piextract import EXACT, LAYERS, MEASURES, PARTS, SOURCE, sentence_tokens

NOTHING = {layer: [] for layer in LAYERS}


pytestmark = pytest.mark.usefixtures("own_workspace")


@pytest.fixture
def published(shared: Path) -> Path:
    """The published train files, as if pulled."""
    for folder in LAYERS.values():
        content = (shared / "data" / "piextract" / folder / "train.conll03").read_bytes()
        keep(SOURCE, f"dataset/{folder}/train.conll03", content)
    return SOURCE.pulled_folder / "dataset"


def test_splits_are_drawn_as_published():
    """The recipe draws the places that the official repository's own test expects of 25 rows."""
    kept, test = split_rows_into_training_and_validation(25, 0.3)
    train, valid = (
        [kept[place] for place in places] for places in split_rows_into_training_and_validation(len(kept), 0.15)
    )
    assert test == [15, 16, 19, 20, 9, 7, 17, 24]
    assert train == [12, 23, 14, 5, 0, 6, 13, 18, 3, 21, 1, 10, 22, 11]
    assert valid == [4, 8, 2]


def test_published_files_have_the_published_counts(published):
    """The official train file gives 2,579 and 456 sentences, all of it once, with the known spans of each layer."""
    loaded = suite("piextract", "valid")
    train, valid = loaded.training.items, loaded.material.items
    assert (len(train), len(valid)) == (2579, 456)
    assert {item.id for item in (*train, *valid)} == {f"train-{number}" for number in range(1, 3036)}
    spans = {layer: sum(len(item.gold[layer]) for item in (*train, *valid)) for layer in LAYERS}
    assert spans == {"COLLECT": 1311, "NOT_COLLECT": 56, "NOT_SHARE": 72, "SHARE": 552}
    assert sum(len(sentence_tokens(item)) for item in (*train, *valid)) == 70_408


@pytest.mark.full
def test_edited_files_are_refused(published):
    """A sentence or a mark too few, tokens that differ, a tag of another layer, another form: each is said."""
    path = published / "CollectUse_true" / "train.conll03"
    content = path.read_text(encoding="utf-8")
    # A stray I- is one span more to seqeval, and the same number of B-.
    path.write_text(content.replace("Policy _ _ O", "Policy _ _ I-COLLECT", 1), encoding="utf-8")
    assert suite("piextract", "train").load("train")
    once = re.sub(r"B-COLLECT(\n.* O\n)", r"O\1", content, count=1)
    cases = {
        once: "has 1310 spans of COLLECT, but the published file has 1311",
        content.replace("Privacy", "Privately", 1): "CollectUse_false/train.conll03: its tokens differ from those of",
        "We _ _ B-SHARE\n": "with one of the tags O, B-COLLECT, I-COLLECT",
        "-DOCSTART- -X- O O\n\nWe\tO\n": "line 3: is not 'token _ _ tag'",
        "-DOCSTART- -X- O O\n": "has no sentences",
    }
    for text, said in cases.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError) as caught:
            suite("piextract", "train").load("train")
        assert said in str(caught.value)
        assert str(path) in str(caught.value)
    path.write_text(content, encoding="utf-8")
    for folder in LAYERS.values():
        place = published / folder / "train.conll03"
        place.write_text(place.read_text(encoding="utf-8").rpartition("\n\n")[0], encoding="utf-8")
    with pytest.raises(DataError, match="has 3034 sentences, but the published file has 3035"):
        suite("piextract", "train").load("train")


def _item(text: str, **gold: list[tuple[int, int]]) -> Item:
    return Item("1", {"text": text}, {**NOTHING, **gold})


def test_texts_become_spans():
    """A text is placed in order of appearance; one too many is a wrong span, one that is not there a fault as well."""
    of = suite("piextract", "sample")
    item = _item("We collect data and share data .", COLLECT=[(2, 3)], SHARE=[(5, 6)])
    cases = [
        ({"COLLECT": ["data"], "SHARE": ["data"]}, {"COLLECT": [(2, 3)], "SHARE": [(2, 3)]}, "", 0.5),
        ({"COLLECT": ["data", "data"]}, {"COLLECT": [(2, 3), (5, 6)]}, "", 0.5),
        ({"COLLECT": ["data"] * 3}, {"COLLECT": [(2, 3), (5, 6), (-1, -1)]}, "", 0.4),
        ({"COLLECT": ["names", "data"]}, {"COLLECT": [(-1, -1), (2, 3)]}, NOT_IN_THE_TEXT, 0.5),
        ({"COLLECT": [""]}, {"COLLECT": [(-1, -1)]}, NOT_IN_THE_TEXT, 0.0),
        ({"SHARE": ["data"], "at": {"SHARE": [5]}}, {"SHARE": [(5, 6)]}, "", 2 / 3),
        ({"SHARE": ["data"], "at": {"SHARE": [4]}}, {"SHARE": [(2, 3)]}, "", 0.0),
        ({"SHARE": ["data"], "at": [5]}, {"SHARE": [(2, 3)]}, "", 0.0),
    ]
    for texts, spans, fault, figure in cases:
        given = of.parse_reply(item, json.dumps({**NOTHING, **texts}))
        assert given.prediction == {**NOTHING, **spans}, texts
        assert given.fault == fault, texts
        assert MEASURES[1].compute([Outcome(item, given)]) == pytest.approx(figure), texts


def test_a_fault_never_earns_an_empty_sentence():
    """A sentence without spans is right with four empty lists, and not with garbage, a refusal or nothing."""
    of, item = suite("piextract", "sample"), _item("Welcome to our site .")
    given = {text: of.parse_reply(item, text) for text in (json.dumps(NOTHING), "", "none", '{"COLLECT": []}')}
    assert [EXACT.compute([Outcome(item, one)]) for one in given.values()] == [1.0, 0.0, 0.0, 0.0]
    assert [one.fault for one in given.values()] == ["", UNPARSABLE, UNPARSABLE, UNPARSABLE]
    assert EXACT.compute([Outcome(item, of.parse_reply(item, json.dumps(NOTHING), "refused"))]) == 0.0


def test_figures_count_spans_by_layer():
    """On random replies the figures are those of sets of (sentence, first, last) of each layer, all layers alike."""
    of, draw = suite("piextract", "sample"), random.Random(3)
    for _ in range(size(small=20, soak=500)):
        reached, predicted, gold = [], {layer: set() for layer in LAYERS}, {layer: set() for layer in LAYERS}
        for item in of.material.items:
            tokens, texts = sentence_tokens(item), dict(NOTHING)
            for layer in LAYERS:
                right = draw.random() < 0.5
                start = draw.randrange(len(tokens))
                spans = item.gold[layer] if right else [(start, start + 1)]
                texts[layer] = [" ".join(tokens[first:last]) for first, last in spans]
                gold[layer] |= {(item.id, first, last) for first, last in item.gold[layer]}
            given = of.parse_reply(item, json.dumps(texts))
            reached.append(Outcome(item, given))
            for layer in LAYERS:
                predicted[layer] |= {(item.id, *span) for span in given.prediction[layer]}
        each = []
        for layer in LAYERS:
            both = len(predicted[layer]) + len(gold[layer])
            each.append(2 * len(predicted[layer] & gold[layer]) / both)
            assert PARTS["layer"][layer][0].compute(reached) == pytest.approx(each[-1])
        assert MEASURES[0].compute(reached) == pytest.approx(sum(each) / 4)


def test_right_replies_reach_100_and_garbage_0(genaipa, server):
    """Asked through an SDK (in full in each wording), replies by gold reach 100 in all figures, and garbage 0."""
    of = suite("piextract", "sample")
    by_text = {item.shown["text"]: of.gold_reply(item) for item in of.material.items}
    assert set(figures(of, of.gold_reply).values()) == {100.0}
    assert set(figures(of, lambda _item: "I found nothing.").values()) == {0.0}

    def answered(_number: int, body: dict) -> object:
        (right,) = (gold for text, gold in by_text.items() if text in str(body["messages"][-1]["content"]))
        return reply(right)

    server.script = answered
    for wording in size(small=("1",), soak=("1", "2", "3")):
        asked = ("run", "--suite", "piextract", "--split", "sample", "--wording", wording)
        done = genaipa(*asked, "--system", "openai-api/loop/m")
        assert done.code == 0, done.err
        assert " 100 % (20 answers)" in done.out
    assert all(layer in str(request.body) for request in server.requests for layer in LAYERS)


def test_baselines_on_the_sample(genaipa):
    """Every baseline answers the made-up sentences: floor 0, ceiling 100, and those trained know what they learnt."""
    names = ("no-spans", "dictionary", "linear-tagger", "ceiling")
    asked = ("run", "--suite", "piextract", "--split", "sample")
    done = genaipa(*asked, *(f"--system=baseline/{name}" for name in names))
    assert done.code == 0, done.err
    of = suite("piextract", "sample")
    reached = {name: figures(of, name)["f1_layers"] for name in names}
    assert (reached["no-spans"], reached["ceiling"]) == (0.0, 100.0)
    assert min(reached["dictionary"], reached["linear-tagger"]) > 50


@pytest.mark.soak
def test_trained_baselines_find_what_they_have_not_seen(published):
    """On valid the tagger, trained on train alone, is above the dictionary, and that above nothing.

    In small, test_baselines_on_the_sample runs the same code.
    """
    of = suite("piextract", "valid")
    floor, dictionary, linear, top = (figures(of, one.name)["f1_spans"] for one in of.baselines)
    assert floor == 0.0 < dictionary < linear < top < 100.0


def test_the_prompts_show_the_sentence_alone():
    """Two messages of a wording differ by their sentences alone."""
    for wording in (1, 2, 3):
        of = suite("piextract", "sample", wording=wording)
        first, second = of.material.items[1:3]
        (one,), (other,) = of.messages(first), of.messages(second)
        assert one.content.replace(first.shown["text"], second.shown["text"]) == other.content


def test_outcomes_say_why():
    """The reason of a score names the spans missed and those given wrongly."""
    of = suite("piextract", "sample")
    (first, *_) = (
        one for one in outcomes(of, lambda _item: json.dumps({**NOTHING, "SHARE": ["We"]})) if one.item.gold["COLLECT"]
    )
    assert of.summarize_fault_or_error(first) == "2 missed, 1 wrong"


def test_groups_and_items_have_measures_that_fit_them():
    """A group of sentences is not scored by the mean of layers, of which it lacks some, nor one sentence by F1."""
    of = suite("piextract", "sample")
    assert [measure.name for measure in of.measures_for_item_groups] == ["f1_spans", "exact"]
    assert of.item_measure.name == "exact"
    assert [measure.name for measure in suite("opp115", "sample").measures_for_item_groups] == ["micro_f1", "exact"]
