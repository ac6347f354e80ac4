"""The questions of HEDS 3.0 in their order, a row each, with what answers them: all sections but the fourth.

A row without a function is a question that no record answers: recruitment, payment, ethics, expertise.
"""

from __future__ import annotations

from genaipa_artifact.heds import HedsQuestion
from genaipa_artifact.heds_power import (
    describe_detectable_differences,
    describe_method_of_power_analysis,
    name_code_of_power_analysis,
)
from genaipa_artifact.heds_questions import (
    count_evaluators,
    describe_desk_score_dates_and_seconds,
    describe_figures_of_quality_assurance,
    describe_medium_of_scores,
    describe_screen_while_scoring,
    describe_training_of_evaluators,
    name_kinds_of_quality_assurance,
)
from genaipa_artifact.heds_sample import (
    count_scored_answers_per_system,
    describe_input_languages,
    describe_inputs_to_systems,
    describe_replies_of_systems,
    describe_selection_of_scored_answers,
    describe_what_people_scored,
    name_task_of_systems,
)

QUESTIONS = (
    HedsQuestion("1.1.1", "Main reference"),
    HedsQuestion("1.1.2", "Which experiment", describe_what_people_scored),
    HedsQuestion("1.2", "Where its resources are"),
    HedsQuestion("1.3.1.1", "Who fills in this sheet: name"),
    HedsQuestion("1.3.1.2", "Who fills in this sheet: affiliation"),
    HedsQuestion("1.3.1.3", "Who fills in this sheet: e-mail"),
    HedsQuestion("1.3.2.1", "Contact author: name"),
    HedsQuestion("1.3.2.2", "Contact author: affiliation"),
    HedsQuestion("1.3.2.3", "Contact author: e-mail"),
    HedsQuestion("2.1", "Type of input", describe_inputs_to_systems),
    HedsQuestion("2.2", "Type of output", describe_replies_of_systems),
    HedsQuestion("2.3", "Task of the systems", name_task_of_systems),
    HedsQuestion("2.4", "Languages of the inputs", describe_input_languages),
    HedsQuestion("2.5", "Languages of the outputs"),
    HedsQuestion("3.1.1", "Outputs evaluated of each system", count_scored_answers_per_system),
    HedsQuestion("3.1.2", "How outputs were selected", describe_selection_of_scored_answers),
    HedsQuestion("3.1.3.1", "Power analysis: method", describe_method_of_power_analysis),
    HedsQuestion("3.1.3.2", "Power analysis: power", describe_detectable_differences),
    HedsQuestion("3.1.3.3", "Power analysis: code", name_code_of_power_analysis),
    HedsQuestion("3.2.1", "Number of evaluators", count_evaluators),
    HedsQuestion("3.2.2.1", "Evaluators: domain experts or not"),
    HedsQuestion("3.2.2.2", "Evaluators: payment"),
    HedsQuestion("3.2.2.3", "Evaluators: known to the authors"),
    HedsQuestion("3.2.2.4", "Evaluators: authors among them"),
    HedsQuestion("3.2.3", "Recruitment"),
    HedsQuestion("3.2.4", "Training and practice", describe_training_of_evaluators),
    HedsQuestion("3.2.5", "Evaluators: other characteristics"),
    HedsQuestion("3.3.1", "Preregistration"),
    HedsQuestion("3.3.2", "Medium of the responses", describe_medium_of_scores),
    HedsQuestion("3.3.3.1", "Quality assurance: kinds", name_kinds_of_quality_assurance),
    HedsQuestion("3.3.3.2", "Quality assurance: details", describe_figures_of_quality_assurance),
    HedsQuestion("3.3.4.1", "Where the interface can be seen"),
    HedsQuestion("3.3.4.2", "What evaluators are shown", describe_screen_while_scoring),
    HedsQuestion("3.3.5", "Freedom of when and how fast", describe_desk_score_dates_and_seconds),
    HedsQuestion("3.3.6", "Questions and feedback of evaluators"),
    HedsQuestion("3.3.7", "Place and conditions"),
    HedsQuestion("3.3.8", "How conditions vary"),
    HedsQuestion("5.1", "Ethics committee"),
    HedsQuestion("5.2", "Personal data"),
    HedsQuestion("5.3", "Special categories of data"),
    HedsQuestion("5.4", "Impact assessments"),
)
