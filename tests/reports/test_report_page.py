"""The report in its folder: what is written, what it says of what is missing, and that nothing in it is a command."""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from analysts import make_answers
from desk import browsing
from framing import answer_rows, score_rows, study_of, tidy_of
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, opened, score

from genaipa.answers.gather import gather_study
from genaipa.errors import UsageError
from genaipa.reports.chapters.overall import note_unranked_systems
from genaipa.reports.matches import explain_missing_pairs_if_too_many
from genaipa.reports.page import render_pages
from genaipa.reports.render import as_html
from genaipa.reports.report import Report
from genaipa.runs.exclusions import EXCLUSIONS, Exclusion, format_exclusions_csv
from genaipa.runs.selection import list_run_folders_oldest_first, select_runs_and_apply_filters
from genaipa.scoring.rubric import BandBounds
from genaipa.workspace import find_workspace
from tests.conftest import forget_personal_settings

REPLIES = ("See section 1.", "The policy does not mention this.", "Perhaps.", "Yes.")
HOSTILE = '<img src=x onerror="document.title=1">'


def gathered(*events, excluded=False):
    """Everything about all runs of the working folder, after these events in the store."""
    here = find_workspace()
    with opened("sqlite:///scores.db") as store:
        store.append_new_events(events)
        return gather_study(
            here,
            select_runs_and_apply_filters(here, [path.name for path in sorted(here.runs.iterdir())]),
            store,
            count_excluded=excluded,
        )


def report(*events, excluded=False, bounds=None, **options):
    """A report of these, written into the folder `out` with figures in SVG."""
    made = Report.build(gathered(*events, excluded=excluded), bounds)
    assert made.write(Path("out"), formats=("svg",), **options) == Path("out/index.html")
    return made


class Page(HTMLParser):
    """A page as a browser finds it: its elements, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(text.read_text(encoding="utf-8") if isinstance(text, Path) else text)

    def handle_starttag(self, tag, attrs):
        """An element begins."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        """Text in it."""
        self.text += " ".join(data.split()) + " "

    def ids(self):
        """Everything that can be linked to."""
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


def unwritten(*events, **options):
    """A report of these, and its page and notes, without its pictures and its files."""
    made = Report.build(gathered(*events, **options))
    texts = render_pages(made, dict.fromkeys(made.figures, b"<svg/>"))
    return made, *(Page(texts[name]) for name in ("index.html", "notes.html"))


@pytest.fixture(scope="module")
def by_two(tmp_path_factory):
    """The folder in which two analysts' scores of all answers were reported with bounds, and the report; read only."""
    folder = tmp_path_factory.mktemp("by-two")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.chdir(folder)
        return folder, report(*scored(make_answers(*REPLIES), "ada", "bo"), bounds=BandBounds(0.6, -0.2))


def told(written):
    """What the report says is missing, at the top and where it would stand."""
    return [*written.notable, *written.absent]


def scored(folder, *names, values=GOOD):
    """Scores of all answers of a run by these analysts."""
    return [score(name, record.digest, values) for record in answers(folder) for name in names]


def test_every_part_has_its_files(by_two, monkeypatch):
    """A figure has its picture and its numbers, a table its two forms, and the manifest the digest of every file."""
    home, written = by_two
    monkeypatch.chdir(home)
    (folder,) = list_run_folders_oldest_first(find_workspace())
    found = {path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file()}
    assert written.figures
    wanted = {f"figures/{figure.name}.{form}" for figure in written.figures.values() for form in ("svg", "csv")}
    wanted |= {f"tables/{t.name}.{form}" for t in written.tables.values() for form in ("csv", "tex")}
    inputs = ("runs", "systems", "texts")
    wanted |= {f"inputs/{name}.{form}" for name in inputs for form in ("csv", "tex")}
    wanted |= {"index.html", "notes.html", f"inputs/{folder.name}.json"}
    assert found == {
        *wanted,
        "manifest.json",
        *(f"{name}.{form}" for name in ("answers", "scores") for form in ("csv", "parquet")),
    }
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert manifest["files"] == {
        name: hashlib.sha256(Path("out", name).read_bytes()).hexdigest() for name in found - {"manifest.json"}
    }
    assert [run["run"] for run in manifest["runs"]] == [folder.name]
    assert (
        manifest["runs"][0]["files"]["answers.jsonl"]
        == hashlib.sha256((folder.path / "answers.jsonl").read_bytes()).hexdigest()
    )


def test_a_leaderboard_that_rests_on_too_few_is_missed_in_words():
    """A report of a third of the answers has no leaderboard, and says why."""
    folder = make_answers(*REPLIES)
    first, *others = scored(folder, "ada")
    made = Report.build(gathered(first))
    assert "There is no leaderboard. Left blank and not counted here, because less than 50%" in " ".join(made.absent)
    warned = {
        one.name
        for one in (*made.tables.values(), *made.figures.values())
        if "Less than 50% scored and not a sample" in one.note
    }
    assert warned >= {"averages", "five-numbers", "faq-against-user", "easiest-and-hardest"}
    assert warned >= {"quality-by-document", "quality-metrics", "quality-categories"}
    assert not warned & {"leaderboard", "answers", "documents", "questions"}
    enough = Report.build(gathered(*others))
    assert "no leaderboard" not in " ".join(enough.absent)
    assert not [one.name for one in (*enough.tables.values(), *enough.figures.values()) if "no sample" in one.note]


def test_the_page_says_how_many_texts_its_scores_are_of():
    """A score counts for each of the answers that are equal texts; the notes say of how many."""
    _, _, notes = unwritten(*scored(make_answers("See section 1.", repetitions=2), "ada")[:1])
    assert "Scores in the averages 2, of 1 different text" in " ".join(notes.text.split())


def test_the_page_needs_nothing_but_itself(by_two):
    """It loads nothing, runs nothing, and each link within it leads somewhere."""
    path = by_two[0] / "out/index.html"
    page = Page(path)
    assert not [tag for tag, _ in page.elements if tag in ("script", "iframe", "object", "embed", "link", "base")]
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "srcset", "href", "action", "data", "poster"):
            target = attributes.get(name) or ""
            assert urlsplit(target).scheme in ("", "data") or (tag, name) == ("a", "href")
            assert not target.startswith("#") or target[1:] in page.ids()
    style = re.search(r"<style>.*?</style>", path.read_text(), re.DOTALL)
    assert "url(" not in style[0]
    assert "@import" not in style[0]
    assert len(page.ids()) == len(set(page.ids()))


def test_every_part_is_in_the_page_or_its_notes(by_two):
    """Figures have alternative texts, tables are folded or named as files; notes and manifests are beside, whole."""
    home, written = by_two
    (folder,) = list_run_folders_oldest_first(find_workspace(home))
    page, notes = Page(home / "out/index.html"), Page(home / "out/notes.html")
    images = [all_of for tag, all_of in page.elements if tag == "img" or all_of.get("role") == "img"]
    assert {(image.get("alt") or image["aria-label"]).partition(". ")[0] for image in images} == {
        f.title for f in written.figures.values()
    }
    assert len(images) == len(written.figures)
    for part in (*written.figures.values(), *written.tables.values()):
        assert " ".join(part.title.split()) in notes.text
        assert "".join(part.note.replace("`", "").split()) in "".join(notes.text.split())
    for name in written.tables:
        assert f"table-{name}" in page.ids()
    assert BandBounds(0.6, -0.2).description in page.text
    manifest = (home / f"out/inputs/{folder.name}.json").read_text()
    assert f'"created": "{folder.manifest().created}"' in manifest
    assert "arXiv:2309.05138" in page.text
    assert "Krippendorff" in page.text


def test_agreement_is_explained_only_where_it_is_shown():
    """Without two analysts there is no alpha, no reference for it, and a sentence that says why."""
    folder = make_answers(*REPLIES)
    made, page, _ = unwritten(*scored(folder, "ada"))
    assert any(sentence.startswith("Agreement is not shown") for sentence in told(made))
    assert "K. Krippendorff" not in page.text


def test_nothing_scored():
    """A run that nobody has scored gives a report that says so, with what is known: what was answered."""
    make_answers(*REPLIES)
    made, page, _ = unwritten()
    assert [*made.tables][:2] == ["answers", "questions"]
    assert not [name for name in made.figures if not name.startswith("effort")]
    unscored, remedy = told(made)[1:3]
    assert "4 of 4" in unscored
    assert remedy.endswith("genaipa score")
    assert "Outcomes of the questions" in page.text


def test_half_scored_with_failures():
    """What failed and what nobody scored is counted and said, and the rest is averaged."""
    make_workspace(questions=4)
    write("say.yaml", "rules:\n- {match: Question 2 on, fail: permanent}\n- {match: Question, reply: Yes.}\n")
    plan = spec(systems=("scripted/say.yaml",), conversation="independent", wordings=("original",))
    folder, _ = carry_out(plan)
    one, *_ = answers(folder)
    made = Report.build(gathered(score("ada", one.digest, GOOD)))
    assert [said.partition(": ")[2] for said in told(made)[1:3]] == ["1 of 4.", "2 of 4."]
    assert made.figures


def test_names_are_text():
    """A hostile name of a system, title of a document and text of a question add no element to the page."""
    make_workspace(questions=2)
    questions = Path("questions/policy.yaml")
    questions.write_text(questions.read_text().replace("T: Transparency", f"T: '{HOSTILE}'"))
    write(f"{HOSTILE}.yaml", f"default: '{HOSTILE}'\n")
    system = f"scripted/{HOSTILE}.yaml"
    folder, _ = carry_out(spec(systems=(system,), conversation="independent", wordings=("original",)))
    excluded = Exclusion("answer", answers(folder)[0].key, HOSTILE, HOSTILE)
    folder.write_file(EXCLUSIONS, format_exclusions_csv([excluded]))
    made, page, notes = unwritten(*scored(folder, "ada", HOSTILE))
    assert not [attributes for _, attributes in (*page.elements, *notes.elements) if "onerror" in attributes]
    assert page.text.count(HOSTILE) > 5
    for table in made.tables.values():
        assert "<img" not in as_html(table)


@pytest.mark.full
def test_what_is_left_out():
    """An excluded answer is in no average, and its reason is listed; asked for, it is counted, and that is said."""
    folder = make_answers(*REPLIES)
    first, *others = answers(folder)
    excluded = Exclusion("answer", first.key, "other-company", "It is about another company.")
    folder.write_file(EXCLUSIONS, format_exclusions_csv([excluded]))
    events = [score("ada", first.digest, POOR), *(score("ada", record.digest, GOOD) for record in others)]
    written = report(*events)
    assert "Excluded: 1 answer and 0 published scores (reasons: other-company 1)." in told(written)
    without = written.main_table.data["m_all"].iloc[0]
    page = Page(Path("out/index.html")).text
    assert "other-company scripted/say.yaml quality 1 0 It is about another company." in page
    included = Report.build(gathered(excluded=True))
    assert any(sentence.startswith("Counted although excluded, as you asked") for sentence in included.notable)
    assert included.main_table.data["m_all"].iloc[0] < without


@pytest.mark.full
def test_a_new_report_replaces_the_old_one():
    """Files of the earlier report that the new one lacks go; what somebody else put there stays."""
    folder = make_answers(*REPLIES[:2])
    report(*scored(folder, "ada"))
    assert Path("out/figures/quality-metrics.svg").is_file()
    write("out/notes.txt", "mine")
    foreign = write("out/figures/quality-metrics.png", "mine")
    with pytest.raises(UsageError, match=r"quality-metrics\.png"):
        Report.build(gathered()).write(Path("out"), formats=("png",))
    assert foreign.read_text() == "mine"
    foreign.unlink()
    Report.build(gathered()).write(Path("out"), formats=("png",))
    assert not Path("out/figures/quality-metrics.svg").exists()
    assert Path("out/figures/quality-metrics.png").is_file()
    assert Path("out/notes.txt").read_text() == "mine"
    assert [path.name for path in Path().iterdir() if path.name.startswith(".out")] == []


@pytest.mark.parametrize("name", ["index.html", "manifest.json", "scores.csv"])
def test_nothing_else_is_overwritten(name):
    """A file of that name that no report wrote is in the way: nothing is written at all."""
    make_answers(*REPLIES)
    write(f"out/{name}", "{}")
    with pytest.raises(UsageError, match=f"{name} already exists and does not belong to an earlier report"):
        report()
    assert [path.name for path in Path("out").iterdir()] == [name]
    assert Path("out", name).read_text() == "{}"


def test_a_manifest_does_not_lead_out_of_the_folder():
    """A manifest.json that somebody wrote can't make a report delete what lies elsewhere."""
    make_answers(*REPLIES)
    victim = write("precious.txt", "mine")
    write(
        "out/manifest.json", json.dumps({"genaipa": "0", "files": {"../precious.txt": "", str(victim.resolve()): ""}})
    )
    report()
    assert victim.read_text() == "mine"


@pytest.mark.full
def test_in_a_browser(by_two):
    """Chromium shows every picture, complains of nothing, asks for nothing, and a phone scrolls down alone."""
    with browsing() as browser:
        page = browser.machine().new_page()
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto((by_two[0] / "out/index.html").as_uri())
        assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
        assert page.evaluate("document.images.length")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        # A figure of a column is seen whole, one of two as large as in print.
        widths = page.evaluate("[...document.querySelectorAll('.picture > *')].map(image => image.clientWidth)")
        assert {width for width in widths if width} <= {672, *range(280, 362)}
        assert 672 in widths
        # Moved by a finger, it keeps the names of its rows at the left.
        look = """() => {
          const drawn = document.querySelector("#figure-quality-metrics .drawn"), box = drawn.parentElement;
          box.scrollLeft = 300;
          const name = getComputedStyle(drawn, "::before"), from = parseFloat(name.marginLeft);
          const seen = { from, width: parseFloat(name.width), moved: box.scrollLeft, stays: name.position };
          return { ...seen, shown: -parseFloat(name.backgroundPositionX), whole: parseFloat(name.backgroundSize) };
        }"""
        seen = page.evaluate(look)
        assert (seen["stays"], seen["whole"], seen["shown"]) == ("sticky", 672, seen["from"])
        assert 0 < seen["from"] < seen["from"] + seen["width"] < seen["moved"] + 100
        assert said == []
        assert [url for url in browser.requests if urlsplit(url).scheme not in ("file", "data")] == []


@pytest.mark.full
def test_six_systems_fit_a_screen(demo):
    """The table of the demo's pairs fits a laptop's screen; on a phone it scrolls within itself, beside the names."""
    with browsing() as browser:
        page = browser.machine().new_page()
        wide = "[document.querySelector('.matrix').scrollWidth, document.querySelector('.matrix').clientWidth]"
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto((demo[0] / "reports/demo/index.html").resolve().as_uri())
        needed, room = page.evaluate(wide)
        assert needed <= room
        page.set_viewport_size({"width": 390, "height": 800})
        needed, room = page.evaluate(wide)
        assert needed > room, "it scrolls"
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.evaluate("document.querySelector('.matrix').scrollLeft = 400")
        name = page.evaluate("document.querySelector('.matrix tbody th').getBoundingClientRect().left")
        assert 0 <= name < 30, "the names of the rows stay"


@pytest.mark.full
def test_experiments_stand_in_the_papers_order():
    """A system that lacks the first experiment does not move it behind the others."""
    rows = [
        *answer_rows(systems=("a/one",), experiments=("recall", "robustness")),
        *answer_rows(systems=("b/two",), experiments=("quality", "robustness", "recall")),
    ]
    names = [figure.name for figure in Report.build(study_of(tidy_of(rows, score_rows(rows)))).figures.values()]
    boxes = [name for name in names if name.endswith("-by-document")]
    assert boxes == ["quality-by-document", "robustness-by-document", "recall-by-document"]


def test_a_system_without_a_place_is_named_with_the_reason(genaipa):
    """Who has too few scores, or none, is missing from the leaderboard in words: on the page and on the terminal."""
    rows = answer_rows(systems=("a/one", "b/two", "c/three", "d/four"), documents=("uber",))
    scores = score_rows(rows)
    few = [s for s in scores if "b/two" in s["answer"]][:3]
    frame = tidy_of(rows, [*(s for s in scores if "a/one" in s["answer"]), *few])
    said = note_unranked_systems(frame)
    assert said.startswith(
        "Not in the leaderboard: b/two (3 of 32 questions scored), c/three (not scored), d/four (not"
    )
    assert "less than 50% scored is no sample" in said
    assert said in Report.build(study_of(frame)).notable
    assert not note_unranked_systems(frame[frame["system"] == "a/one"])
    assert not note_unranked_systems(frame[frame["system"] == "c/three"]), "where nobody has a place, others say so"
    assert "at most 30, and here are 31" in explain_missing_pairs_if_too_many(31)
    assert not explain_missing_pairs_if_too_many(30)
    folder = make_answers(*REPLIES)
    write("other.yaml", "default: No.\n")
    carry_out(spec(systems=("scripted/other.yaml",)))
    gathered(*scored(folder, "ada"))
    assert "Not in the leaderboard: scripted/other.yaml (not scored)." in genaipa("leaderboard").out
