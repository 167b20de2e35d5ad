//! Cases that a rubric shows as examples measure nothing: the judge has seen the answer.

use std::collections::BTreeSet;

/// The cases that may be labelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutExamples<T> {
    pub kept: Vec<T>,
    /// Cases that are examples of the rubric, by content.
    pub excluded: usize,
}

/// Splits cases by content hash, in their order. How content is hashed is the caller's, the same for both sides.
pub fn leave_out_examples<T>(
    cases: impl IntoIterator<Item = T>,
    examples: &BTreeSet<String>,
    content_hash: impl Fn(&T) -> &str,
) -> WithoutExamples<T> {
    let (shown, kept): (Vec<T>, Vec<T>) =
        cases.into_iter().partition(|case| examples.contains(content_hash(case)));
    WithoutExamples { kept, excluded: shown.len() }
}

#[cfg(test)]
mod tests {
    use super::leave_out_examples;

    #[test]
    fn what_the_rubric_shows_is_left_out_and_counted() {
        let examples = ["h2", "h9"].map(String::from).into();
        let left = leave_out_examples([("a", "h1"), ("b", "h2"), ("c", "h2")], &examples, |(_, hash)| *hash);
        assert_eq!((left.kept, left.excluded), (vec![("a", "h1")], 2));
    }
}
