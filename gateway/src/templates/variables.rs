//! What a template can say: the rubric in words, and the case as fenced data.
//!
//! Every mode has `criteria`, `criterion` (the first one), `guidelines`, `evidence`, `form`, `input`, `context`;
//! pointwise adds `output`, reference adds `output` and `reference`, pairwise adds `first`, `second`, `tie` and
//! `reference`. `guidelines`, `input` and, of a pair, `reference` are undefined where the rubric or the case has none.

use std::borrow::Cow;
use std::sync::Arc;

use aggregation::scale::Scale;
use aggregation::vote::Order;
use serde::Serialize;

use crate::case::{Candidates, Case, Mode};
use crate::rubric::{Criterion, Evidence, Example, Rubric};
use crate::templates::fence::{fence, neutralise};
use crate::templates::form::{asked_scale, asks_evidence, values_in_words};

/// Values are inserted once and never rendered again.
#[derive(Serialize)]
pub(crate) struct Variables<'a> {
    criteria: Vec<CriterionView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<CriterionView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guidelines: Option<&'a str>,
    evidence: bool,
    form: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    context: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// Shown first, as A.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
    /// Shown second, as B.
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tie: Option<bool>,
}

#[derive(Clone, Serialize)]
struct CriterionView<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    /// The declared values in words.
    scale: String,
    levels: Vec<LevelView<'a>>,
    /// The best value of a numeric scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<String>,
    evidence: bool,
    examples: Vec<ExampleView<'a>>,
}

#[derive(Clone, Serialize)]
struct LevelView<'a> {
    value: &'a str,
    meaning: &'a str,
}

#[derive(Clone, Serialize)]
struct ExampleView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    value: String,
}

impl<'a> Variables<'a> {
    pub(crate) fn new(
        case: &Case,
        rubric: &'a Rubric,
        criteria: &'a [Arc<Criterion>],
        order: Order,
        form: &'a str,
    ) -> Self {
        let mode = case.mode();
        let views: Vec<CriterionView<'a>> = criteria.iter().map(|c| CriterionView::new(c, mode)).collect();
        let (output, pair) = match &case.candidates {
            Candidates::One(candidate) => (Some(fence("answer", &candidate.output)), None),
            Candidates::Pair { a, b } => {
                let (first, second) = match order {
                    Order::AsGiven => (a, b),
                    Order::Reversed => (b, a),
                };
                let pair = (fence("answer A", &first.output), fence("answer B", &second.output));
                (None, Some(pair))
            }
        };
        let (first, second) = pair.unzip();
        Self {
            criterion: views.first().cloned(),
            criteria: views,
            guidelines: rubric.guidelines.as_deref(),
            evidence: asks_evidence(criteria),
            form,
            input: case.input.as_deref().map(|text| fence("task", text)),
            context: case.context.iter().map(|text| fence("context", text)).collect(),
            output,
            reference: case.reference.as_deref().map(|text| fence("reference", text)),
            tie: first.is_some().then(|| criteria.iter().any(|criterion| criterion.tie)),
            first,
            second,
        }
    }

    /// The names that a template of this mode may use, whether or not a case has them.
    pub(super) fn names(mode: Mode) -> &'static [&'static str] {
        match mode {
            Mode::Pointwise => {
                &["criteria", "criterion", "guidelines", "evidence", "form", "input", "context", "output"]
            }
            Mode::Reference => &[
                "criteria",
                "criterion",
                "guidelines",
                "evidence",
                "form",
                "input",
                "context",
                "output",
                "reference",
            ],
            Mode::Pairwise => &[
                "criteria",
                "criterion",
                "guidelines",
                "evidence",
                "form",
                "input",
                "context",
                "first",
                "second",
                "reference",
                "tie",
            ],
        }
    }
}

impl<'a> CriterionView<'a> {
    fn new(criterion: &'a Criterion, mode: Mode) -> Self {
        Self {
            name: &criterion.name,
            instructions: criterion.instructions.as_deref(),
            scale: values_in_words(&asked_scale(criterion, mode)),
            levels: levels_in_order(criterion),
            best: criterion.scale.range().map(|(_, best)| best.to_string()),
            evidence: criterion.evidence == Evidence::Quote,
            examples: criterion.examples.iter().filter(|e| is_of(e, mode)).map(ExampleView::new).collect(),
        }
    }
}

impl<'a> ExampleView<'a> {
    fn new(example: &'a Example) -> Self {
        let safe = |text: &'a Option<String>| text.as_deref().map(neutralise);
        Self {
            input: safe(&example.input),
            output: safe(&example.output),
            reference: safe(&example.reference),
            a: safe(&example.a),
            b: safe(&example.b),
            reason: safe(&example.reason),
            value: match &example.value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            },
        }
    }
}

/// An example of pairs helps with pairs only, and the other way round.
fn is_of(example: &Example, mode: Mode) -> bool {
    let is_pair = example.a.is_some() || example.b.is_some();
    is_pair == (mode == Mode::Pairwise)
}

/// From the lowest value to the highest; labels in their declared order. A level of no declared value comes last.
fn levels_in_order(criterion: &Criterion) -> Vec<LevelView<'_>> {
    let place = |value: &str| -> f64 {
        let at = match &criterion.scale {
            Scale::Ordinal(_) | Scale::Continuous(_) => value.trim().parse().ok(),
            Scale::Nominal(labels) => labels
                .values()
                .iter()
                .zip(0_u32..)
                .find(|(label, _)| *label == value)
                .map(|(_, i)| f64::from(i)),
            Scale::PassFail | Scale::Pairwise { .. } => match value {
                "fail" | "false" => Some(0.0),
                "pass" | "true" => Some(1.0),
                _ => None,
            },
        };
        at.unwrap_or(f64::INFINITY)
    };
    let mut levels: Vec<LevelView<'_>> =
        criterion.levels.iter().map(|(value, meaning)| LevelView { value, meaning }).collect();
    levels.sort_by(|x, y| place(x.value).total_cmp(&place(y.value)));
    levels
}
