"""From a request to the procedure's plan.

Documents are resolved, be they of a corpus or given as they are, names are checked, what is published is fetched, and
presets are spelled out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from genaipa.errors import DataError, GenaipaError, ManyDocumentsError, OptionError, UnknownNameError, UsageError
from genaipa.files.text import read_text, sha256_of
from genaipa.languages.catalog import (
    ENGLISH,
    language_name,
    language_of_prompt_set_or_english,
    variant_name_for_language,
)
from genaipa.policies.adding import (
    company_missing_error,
    describe_given_document,
    is_file_address_or_stdin,
    read_given_document,
)
from genaipa.policies.companies import UNNAMED
from genaipa.policies.corpus import Corpus, read_and_check_corpus
from genaipa.policies.corpus_index import INDICES, load_or_index_corpus
from genaipa.policies.document import Document, document_layers_and_paths_by_name, load_document
from genaipa.questions.sets import (
    WORDINGS,
    default_question_set_name,
    find_published_set_name_or_empty,
    load_question_set,
)
from genaipa.runs.experiments import DEFAULT_EXPERIMENT, EXPERIMENTS
from genaipa.runs.procedure import (
    INITIALIZATIONS,
    NEUTRAL,
    ProcedurePlan,
    assert_procedure_run_and_get_plan,
    make_spec_for_other_documents,
)
from genaipa.runs.records import CorpusFacts, RunSpec
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.runs.slices import assign_documents_to_slices, check_slice_index_and_count
from genaipa.systems.catalog import resolve_system
from genaipa.systems.provider import find_provider
from genaipa.systems.published import is_recording_pulled, list_question_sets_of_recorded_system, read_recording
from genaipa.tasks.prompts import list_prompt_sets, load_prompts
from genaipa.tasks.request import make_spec, parse_question_range
from genaipa.words import join_names, join_some

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from genaipa.policies.document import DocumentKind
    from genaipa.tasks.request import Resources, RunRequest
    from genaipa.workspace import Workspace

MOST_DOCUMENTS = 2000
"""Documents of a corpus that a run has in one folder: in memory with their texts, and in a manifest of 2 MB."""
_NAMED = 3
"""Documents that a sentence names."""


def resolve_documents(
    workspace: Workspace, request: RunRequest, resources: Resources
) -> tuple[Workspace, RunRequest, CorpusFacts | None]:
    """Return a workspace that holds the documents that a request brings, and the request that names them.

    They are files, addresses or standard input, or a corpus, of which also the facts for the run's manifest are given.
    """
    workspace, request = _resolve_given_documents(workspace, request, resources)
    if request.corpus is None:
        return workspace, request, None
    _check_corpus_request(request)
    sample = request.limit_documents
    if sample is None or sample > MOST_DOCUMENTS:
        corpus = _load_or_index_request_corpus(workspace, request, no_index_up_to_document_count=MOST_DOCUMENTS)
    else:  # No slices are made of it, which need to know more of each document.
        corpus = read_and_check_corpus(Path(request.corpus), seed=request.seed, stratum_column=request.stratify or "")
    rows = corpus.select_distinct_or_sampled_rows(request.limit_documents).tolist()
    if len(rows) > MOST_DOCUMENTS:
        raise ManyDocumentsError(len(rows), MOST_DOCUMENTS)
    facts = _make_and_say_corpus_facts(corpus, request, len(rows), resources)
    documents = _read_corpus_documents_by_name(workspace, request, corpus, rows)
    return workspace.with_documents(documents), replace(request, documents=tuple(documents), corpus=None), facts


def _make_and_say_corpus_facts(
    corpus: Corpus, request: RunRequest, document_count: int, resources: Resources
) -> CorpusFacts:
    """Return the facts of a corpus for the manifest; says what is asked about."""
    file, by = str(corpus.path.resolve()), request.stratify or ""
    facts = CorpusFacts(file, corpus.digest, corpus.document_count, corpus.distinct_text_count, document_count, by)
    for sentence in (facts.sentence_on_corpus_and_sample_size, *corpus.remarks_on_groups):
        resources.say(sentence)
    return facts


def _check_corpus_request(request: RunRequest) -> None:
    """Raise a UsageError for documents beside a corpus, and for strata without a sample."""
    if request.documents:
        raise UsageError("a corpus already contains its documents; name documents or a corpus, not both.")
    if request.stratify and request.limit_documents is None:
        raise UsageError("only a sample can be stratified; limit the number of documents, for example to 500.")


class PlannedSlice(NamedTuple):
    """A slice of a study before it is a run: a workspace that holds its documents, its spec, the corpus, its plan."""

    workspace: Workspace
    spec: RunSpec
    corpus: CorpusFacts
    plan: str
    """The digest of everything that decides what the slices ask, but for systems and repetitions."""


def plan_slice(workspace: Workspace, request: RunRequest, resources: Resources) -> PlannedSlice:
    """Plan a slice: everything is decided over all documents that the study asks about, and then its own are taken.

    The corpus is read once for all slices. The errors of `read_and_check_corpus` and of
    `plan_procedure_and_fetch_documents`; an OptionError for no slice, or for slices with more documents than a folder
    takes.
    """
    assert request.slice is not None, "the request is for a slice"
    index, number = request.slice
    check_slice_index_and_count(index, number)
    if request.corpus is None:
        raise OptionError("slice", " works only on a corpus; name its file.")
    _check_corpus_request(request)
    corpus = _load_or_index_request_corpus(workspace, request)
    rows = corpus.select_distinct_or_sampled_rows(request.limit_documents).tolist()
    if len(rows) > MOST_DOCUMENTS * number:
        fewest = -(-len(rows) // MOST_DOCUMENTS)
        raise OptionError(
            "slice",
            f" {index}/{number}: {len(rows):,} documents are more than {MOST_DOCUMENTS:,} per slice; use "
            f"{fewest:,} slices.",
        )
    facts = _make_and_say_corpus_facts(corpus, request, len(rows), resources)
    assert corpus.heads is not None, "they were noted"
    alike = corpus.heads.map_english_rows_to_first_of_same_kind(rows)
    heads = {corpus.heads.names[row]: corpus.heads.make_textless_document(row) for row in dict.fromkeys(alike)}
    whole = make_spec(replace(request, documents=tuple(heads), corpus=None), workspace.with_documents(heads), resources)
    slice_indices = assign_documents_to_slices(corpus.heads.texts, number)
    slice_rows = [(row, first) for row, first in zip(rows, alike, strict=True) if slice_indices[row] == index]
    documents = _read_corpus_documents_by_name(workspace, request, corpus, [row for row, _ in slice_rows])
    sets = assert_procedure_run_and_get_plan(whole).questions
    questions = {corpus.heads.names[row]: sets[corpus.heads.names[first]] for row, first in slice_rows}
    spec = make_spec_for_other_documents(whole, documents, questions)
    return PlannedSlice(workspace.with_documents(documents), spec, facts, _digest_slice_plan(workspace, whole, facts))


def _load_or_index_request_corpus(
    workspace: Workspace, request: RunRequest, *, rebuild_index: bool = False, no_index_up_to_document_count: int = 0
) -> Corpus:
    """Return the corpus of a request, by the workspace's index of it."""
    assert request.corpus is not None, "the request names a corpus"
    sampled, by = request.limit_documents is not None, request.stratify or ""
    file, folder = Path(request.corpus), workspace.runs / INDICES
    return load_or_index_corpus(
        file,
        folder,
        seed=request.seed,
        stratum_column=by,
        with_sample_order=sampled,
        ignore_existing_index=rebuild_index,
        no_index_up_to_document_count=no_index_up_to_document_count,
    )


def _read_corpus_documents_by_name(
    workspace: Workspace, request: RunRequest, corpus: Corpus, rows: list[int]
) -> dict[str, Document]:
    """Return the documents of these rows by name; a DataError if they are not those that the index knows."""
    documents = list(corpus.read_documents(rows))
    if corpus.heads is not None and not all(map(corpus.heads.matches_document, rows, documents)):
        # A file that was changed in the middle, and has its old length and time.
        _load_or_index_request_corpus(workspace, request, rebuild_index=True)
        raise DataError(corpus.path, "changed while it was being read; run the command again.")
    return {document.name: document for document in documents}


def _digest_slice_plan(workspace: Workspace, spec: RunSpec, facts: CorpusFacts) -> str:
    """Return the digest of everything that decides what slices ask, but for systems and repetitions."""
    plan = assert_procedure_run_and_get_plan(spec)
    files = workspace.nearest_files("questions")
    questions = {name: sha256_of(read_text(files[name][1])) for name in sorted({*plan.questions.values()})}
    prompts = {name: sorted(load_prompts(workspace, name).template_texts.items()) for name in plan.prompts}
    alike = replace(make_spec_for_other_documents(spec, (), {}), systems=(), repetitions=1)
    sample = facts.digest, facts.asked, facts.stratified
    return sha256_of(repr((msgspec.to_builtins(alike), sample, sorted(questions.items()), sorted(prompts.items()))))


def _resolve_given_documents(
    workspace: Workspace, request: RunRequest, resources: Resources
) -> tuple[Workspace, RunRequest]:
    """Return a workspace with the documents given as files, addresses or standard input, and the request by name.

    Names of the workspace and of published documents come first. Says how each is called.
    """
    taken_names = {*document_layers_and_paths_by_name(workspace)}
    sources = [name for name in request.documents if name not in taken_names and is_file_address_or_stdin(name)]
    # A data set is asked only where a word may be its document's name: all of them take long to import.
    taken_names |= {*resources.published()} if sources else set()
    sources = [name for name in sources if name not in taken_names]
    if request.company and len(sources) != 1:
        raise UsageError(
            "a company can be named only for a single document that is given as a file, an address or standard input."
        )
    if not sources:
        return workspace, request
    texts = _map_documents_to_run_text_digests(workspace)
    documents_by_name: dict[str, Document] = {}

    def is_name_taken_by_other_text(name: str, digest: str) -> bool:
        digests = {*texts.get(name, set()), *([documents_by_name[name].digest] if name in documents_by_name else [])}
        return name in taken_names or bool(digests - {digest})

    names = {}
    for source in sources:
        document = read_given_document(source, request.company, is_name_taken_by_other_text, resources.say)
        names[source] = document.name
        documents_by_name[document.name] = document
        resources.say(describe_given_document(document))
    documents = tuple(dict.fromkeys(names.get(name, name) for name in request.documents))
    return workspace.with_documents(documents_by_name), replace(request, documents=documents)


def _map_documents_to_run_text_digests(workspace: Workspace) -> dict[str, set[str]]:
    """Return name → the digests of the texts that runs asked about by it."""
    texts: dict[str, set[str]] = {}
    for folder in list_run_folders_oldest_first(workspace):
        try:
            documents = folder.manifest().documents
        except GenaipaError:
            continue  # `genaipa runs` names it
        for name, facts in documents.items():
            texts.setdefault(name, set()).add(facts.digest)
    return texts


def plan_procedure_and_fetch_documents(
    request: RunRequest, workspace: Workspace, resources: Resources
) -> ProcedurePlan:
    """Make the plan of a request; fetches published documents that are not here.

    An option that is not named here is the plan's field as it was given.
    """
    for system in request.systems:
        provider = find_provider(system)
        if provider and provider.only:
            raise UsageError(f"{system} answers {provider.only}")
    if not request.documents:
        raise UsageError("no document is named; `genaipa policies` lists the documents.")
    options = dict(request.plan)
    by_hand = [system for system in request.systems if resolve_system(system, workspace).is_manual]
    if by_hand and options.get("follow_up"):
        raise _follow_ups_by_hand_error(by_hand, are_all=len(by_hand) == len(request.systems))
    named = options.get("experiment") or ""
    _check_names_are_valid("experiment", (named or DEFAULT_EXPERIMENT,), EXPERIMENTS)
    _check_names_are_valid("initialization", options.get("initializations", ()), INITIALIZATIONS)
    _check_names_are_valid("wording", options.get("wordings", ()), (*WORDINGS, "all"))
    _check_names_are_valid(
        "set of prompts", options.get("prompts", ()), list_prompt_sets(workspace), "See: genaipa prompts"
    )
    _check_names_are_valid("kind of conversation", (options.get("conversation", "shared"),), ("shared", "independent"))
    workspace_documents = document_layers_and_paths_by_name(workspace)
    if not workspace_documents.keys() >= set(request.documents):
        offered = {*workspace_documents, *resources.published()}
        _check_names_are_valid("policy", request.documents, offered, "Name a file with its extension: policy.md")
        resources.fetch([name for name in request.documents if name not in workspace_documents])
    _fill_options_of_recorded_systems(request.systems, request.documents, options, resources)
    experiment, wanted = EXPERIMENTS[named or DEFAULT_EXPERIMENT], options.get("wordings", ())
    ways = options.get("initializations") or experiment.initializations
    initializations = tuple(way for way in INITIALIZATIONS if way in ways)
    chosen = WORDINGS if "all" in wanted else wanted or experiment.wordings
    wordings = tuple(wording for wording in WORDINGS if wording in chosen)
    prompts = tuple(dict.fromkeys(options.get("prompts", ()))) or experiment.prompts or (NEUTRAL,)
    if experiment.prompts and len(prompts) == 1:
        raise UsageError(
            f"'{named}' compares several sets of prompts, but only '{prompts[0]}' is named; name at least two."
        )
    as_preset = (initializations, wordings) == (experiment.initializations, experiment.wordings)
    if named and not as_preset:
        changed_option = "wordings" if wordings != experiment.wordings else "initializations"
        raise UsageError(
            f"the {changed_option} {', '.join(options.get(changed_option, ()))} differ from those of the experiment "
            f"'{named}'; leave out the experiment to define your own, or leave out the {changed_option}."
        )
    documents = {name: load_document(name, workspace) for name in request.documents}
    _check_companies_are_known(documents.values(), initializations)
    questions = _choose_question_sets(workspace, documents, options.get("questions", ()), named)
    usual = () if options.get("prompts") else prompts
    if usual:
        prompts = _choose_prompts_in_question_language(workspace, questions, usual)
    if not options.get("questions"):
        without = [name for name in usual if name in prompts]
        _tell_defaults_for_non_english_documents(documents, questions, prompts, without, resources)
        _tell_published_questions(workspace, documents, questions, resources)
    resolved = {
        "documents": request.documents,
        "questions": questions,
        # A preset that other flags changed is the user's own experiment.
        "experiment": (named or DEFAULT_EXPERIMENT) if as_preset else "",
        "initializations": initializations,
        "wordings": wordings,
        "prompts": prompts,
        "limit": parse_question_range(options.get("limit")),
    }
    return msgspec.convert(options | resolved, ProcedurePlan)


def _follow_ups_by_hand_error(names: Sequence[str], *, are_all: bool) -> OptionError:
    is_or_are, it_or_them, possessive = ("is", "it", "its own") if len(names) == 1 else ("are", "them", "their own")
    remedy = "leave it out." if are_all else f"ask {it_or_them} in a run of {possessive}, without it."
    return OptionError(
        "follow_up", f": {join_names(names)} {is_or_are} asked by hand and can't be asked follow-ups; {remedy}"
    )


def _check_companies_are_known(documents: Iterable[Document], initializations: Container[str]) -> None:
    """Raise a UsageError for a document whose company nobody named, and that is to be asked about by that name."""
    unnamed = next((document for document in documents if document.company == UNNAMED), None)
    if unnamed and ("company-name" in initializations or "summary-by-name" in initializations):
        raise company_missing_error(unnamed)


def _fill_options_of_recorded_systems(
    systems: Iterable[str], documents: Iterable[str], options: dict[str, Any], resources: Resources
) -> None:
    """Fill in the options given for a published system with its study's questions and initializations; says so.

    A UsageError for one of the documents that its study didn't ask about.
    """
    recorded = [name for name in systems if is_recording_pulled(name)]
    if not recorded:
        return
    for name in recorded:
        texts = read_recording(name).documents
        if strange := [document for document in documents if document not in texts]:
            raise UsageError(
                f"{name} has no answers about {', '.join(strange)}: it only repeats the answers of its study, which "
                f"are about {join_names(sorted(texts))}; ask other systems about the other documents, in a separate "
                "run."
            )
    named = options.get("experiment")
    if options.get("prompts") or (named and EXPERIMENTS[named].prompts):
        raise UsageError(
            f"{recorded[0]} answered the unpublished prompts of its study and can't be asked with other prompts; "
            "ask it in a separate run, without naming prompts."
        )
    resources.say(f"{recorded[0]}: its answers respond to the prompts of the study, not to these prompts")
    if not options.get("questions"):
        options["questions"] = sets = list_question_sets_of_recorded_system(recorded[0])
        resources.say(f"{recorded[0]}: asking the questions of the published study ({sets[0]})")
    if not options.get("initializations") and not named:
        ways = [set(read_recording(name).initializations) for name in recorded]
        initializations = tuple(way for way in INITIALIZATIONS if all(way in ways_of_one for ways_of_one in ways))
        resources.say(
            f"{recorded[0]}: using the {len(initializations)} recorded initializations ({', '.join(initializations)})"
        )
        options["initializations"] = initializations


def _check_names_are_valid(noun: str, names: Iterable[str], valid_names: Any, hint: str = "") -> None:
    for name in names:
        if name not in valid_names:
            raise UnknownNameError(noun, name, valid_names, hint)


def _choose_question_sets(
    workspace: Workspace, documents: Mapping[str, Document], set_names: Iterable[str], experiment: str
) -> dict[str, str]:
    """Return document → question set: the one named for its kind, else its kind's own in its language."""
    only: DocumentKind | None = EXPERIMENTS[experiment or DEFAULT_EXPERIMENT].kind
    named: dict[str, str] = {}
    for questions in (load_question_set(name, workspace) for name in set_names):
        if questions.kind in named:
            raise UsageError(
                f"the question sets '{named[questions.kind]}' and '{questions.name}' are both about a "
                f"{questions.kind}; name one set for each kind of document, and ask the other set in a separate run."
            )
        named[questions.kind] = questions.name
    for name, document in documents.items():
        kind = document.kind
        if only not in (None, kind):
            raise UsageError(
                f"the experiment '{experiment}' is about a {only}, but {name} is a {kind}; name a {only} that "
                "`genaipa policies` lists, or name another experiment."
            )
        if named and kind not in named:
            raise UsageError(
                f"{name} is a {kind}, but none of the named question sets is about a {kind}; name a set for each "
                "kind of document."
            )
    if named:
        return {name: named[document.kind] for name, document in documents.items()}
    check_one_question_language(documents.values(), workspace)
    return _choose_default_question_sets(workspace, documents)


def _choose_default_question_sets(workspace: Workspace, documents: Mapping[str, Document]) -> dict[str, str]:
    """Return document → the set that is asked about it by default, looked up once for all that are alike."""
    sets, chosen = dict[tuple[str, str, str], str](), dict[str, str]()
    for name, document in documents.items():
        alike = document.kind, document.language, find_published_set_name_or_empty(document, workspace)
        if alike not in sets:
            sets[alike] = default_question_set_name(document, workspace)
        chosen[name] = sets[alike]
    return chosen


def check_one_question_language(documents: Iterable[Document], workspace: Workspace) -> None:
    """Raise a UsageError for documents that would by default be asked about in several languages."""
    languages, first = dict[tuple[str, str, str], str](), ("", "")
    for document in documents:
        published = find_published_set_name_or_empty(document, workspace)
        alike = document.kind, document.language, published
        if alike not in languages:
            is_english = published or default_question_set_name(document, workspace) == document.kind
            languages[alike] = ENGLISH.code if is_english else document.language
        language = languages[alike]
        first = first if first[0] else (document.name, language)
        if language != first[1]:
            raise UsageError(
                f"{first[0]} would be asked about in {language_name(first[1])}, but {document.name} in "
                f"{language_name(language)}; ask about each document in a separate run, or name one question set "
                f"for both, such as '{document.kind}'."
            )


def _choose_prompts_in_question_language(
    workspace: Workspace, question_sets: Mapping[str, str], default_prompts: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the usual sets of prompts in the language of the questions, where there is a variant of each."""
    languages = {load_question_set(name, workspace).language_code for name in set(question_sets.values())}
    if len(languages) > 1:
        return default_prompts
    (language,) = languages
    variants = tuple(variant_name_for_language(name, language) for name in default_prompts)
    return variants if {*variants} <= {*list_prompt_sets(workspace)} else default_prompts


def _reason_clause_for_asking_in_english(guessed_language: str, *, plural: bool) -> str:
    """Explain why documents are not asked about in their language: there are no questions, or it is not recognised."""
    if not guessed_language:
        return f"the language of the document{'s' if plural else ''} is not recognised"
    subject = "documents seem" if plural else "document seems"
    return f"the {subject} to be in {language_name(guessed_language)}, for which there are no questions"


def _tell_published_questions(
    workspace: Workspace,
    documents: Mapping[str, Document],
    question_set_of_each_document: Mapping[str, str],
    resources: Resources,
) -> None:
    """Say in a line which published documents are asked the questions that were published with them."""
    documents_by_set: dict[str, list[str]] = {}
    for name, document in documents.items():
        if find_published_set_name_or_empty(document, workspace):
            documents_by_set.setdefault(question_set_of_each_document[name], []).append(name)
    for questions, names in documents_by_set.items():
        resources.say(
            f"{join_some(names, _NAMED)}: asking the question set {questions}, which was published with "
            f"{'it' if len(names) == 1 else 'them'}; the question set {documents[names[0]].kind} has genaipa's own "
            "wordings"
        )


def _tell_defaults_for_non_english_documents(
    documents: Mapping[str, Document],
    question_set_of_each_document: Mapping[str, str],
    prompt_sets: tuple[str, ...],
    untranslated_prompts: Sequence[str],
    resources: Resources,
) -> None:
    """Say in a line what is asked by default about documents in another language than English.

    `untranslated_prompts` are sets of prompts that are not in that of the questions.
    """
    documents_by_language: dict[str, list[str]] = {}
    unknown: dict[str, list[str]] = {}
    for name, document in documents.items():
        if not document.language:
            unknown.setdefault(document.likely_unsupported_language_code, []).append(name)
        elif document.language != ENGLISH.code:
            documents_by_language.setdefault(document.language, []).append(name)
    for seems, names in unknown.items():
        resources.say(
            f"{join_some(names, _NAMED)}: asking in English, because "
            f"{_reason_clause_for_asking_in_english(seems, plural=len(names) > 1)}"
        )
    for language, names in documents_by_language.items():
        question_sets = dict.fromkeys(question_set_of_each_document[name] for name in names)
        lacking = [
            name
            for name in (*question_sets, *untranslated_prompts)
            if language_of_prompt_set_or_english(name).code != language
        ]
        none = f"; not available in {language_name(language)}: {join_names(lacking)}" if lacking else ""
        resources.say(
            f"{join_some(names, _NAMED)}: asking in {language_name(language)}, with the questions "
            f"{join_names([*question_sets])} and the prompts {join_names(prompt_sets)}{none}"
        )
