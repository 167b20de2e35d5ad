//! Whether a judge is kinder or harsher than people. Source: specification 1.7.

use crate::estimate::Estimated;
use crate::labelled::LabelledCases;
use crate::numeric::clustered_mean;
use crate::vote::JudgeId;

/// One judge against people.
#[derive(Debug, Clone, PartialEq)]
pub struct Leniency {
    pub judge: JudgeId,
    /// Mean of judge less person in score01; positive is kinder. On pairs: kinder to a. Undefined on nominal scales,
    /// whose labels have no order.
    pub difference: Estimated,
}

/// Each judge's mean score less people's, over the cases that it voted on, paired, with an interval that knows which
/// cases share a source.
pub fn leniency(cases: &LabelledCases, confidence: f64) -> Vec<Leniency> {
    let scale = cases.scale();
    let of = |judge: &JudgeId| {
        let (mut differences, mut sources) = (Vec::new(), Vec::new());
        for case in cases.cases() {
            let scores =
                case.value_of(judge).and_then(|value| scale.score01(value)).zip(scale.score01(case.label));
            if let Some((judged, known)) = scores {
                differences.push(judged - known);
                sources.push(case.source);
            }
        }
        let n_dropped = cases.cases().len() - differences.len();
        let estimated = clustered_mean(&differences, sources).estimate(confidence);
        match estimated {
            Ok(estimate) => Ok(crate::estimate::Estimate { n_dropped, ..estimate }),
            Err(undefined) => Err(crate::estimate::Undefined { n_dropped, ..undefined }),
        }
    };
    cases.judges().iter().map(|judge| Leniency { judge: judge.clone(), difference: of(judge) }).collect()
}

#[cfg(test)]
mod tests {
    use super::leniency;
    use crate::estimate::UndefinedReason;
    use crate::labelled::{LabelledCase, LabelledCases};
    use crate::scale::{Scale, Value};
    use crate::vote::{JudgeId, Rating, Scoring, Vote};

    fn case(value: Value, label: Value) -> LabelledCase {
        let rating = Rating { value, scoring: Scoring::Discrete, distribution: None, fallback: false };
        LabelledCase {
            votes: vec![Vote { judge: JudgeId::new("a"), outcome: Ok(rating), pair: None }],
            label,
            source: None,
        }
    }

    #[test]
    fn kinder_is_positive_and_labels_without_order_have_no_kindness() {
        let scale = Scale::Ordinal(vec![1.0, 3.0, 5.0].try_into().unwrap());
        let pairs = [(5.0, 3.0), (3.0, 3.0)];
        let cases = pairs.map(|(value, label)| case(Value::Number(value), Value::Number(label)));
        let found = leniency(&LabelledCases::new(scale, cases.to_vec()).unwrap(), 0.95);
        assert!((found[0].difference.unwrap().value - 0.25).abs() < 1e-12);
        let nominal = Scale::Nominal(["x", "y"].map(String::from).to_vec().try_into().unwrap());
        let cases = LabelledCases::new(nominal, vec![case(Value::Category(0), Value::Category(1))]).unwrap();
        let undefined = leniency(&cases, 0.95)[0].difference.unwrap_err();
        assert_eq!((undefined.reason, undefined.n_dropped), (UndefinedReason::Empty, 1));
    }
}
