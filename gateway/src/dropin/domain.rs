//! The labels and ranges that a prompt offers. They spell and complete what judges say; they never vote.

use std::sync::LazyLock;

use regex::Regex;

use super::prompt::PromptText;
use super::repair;

const MAX_GROUPS: usize = 96;
const MAX_LABELS: usize = 24;
const LONGEST_LABEL: usize = 40;
/// Where scales begin, and where they end beyond ten. Other ranges are about something else.
const COMMON_STARTS: [f64; 3] = [-1.0, 0.0, 1.0];
const COMMON_ENDS: [f64; 2] = [20.0, 100.0];

/// Sets of labels that are offered together, and ranges of numbers, in order of appearance.
#[derive(Debug, Clone, Default)]
pub(super) struct Domains {
    groups: Vec<Vec<String>>,
    ranges: Vec<(f64, f64)>,
}

impl Domains {
    pub(super) fn of(texts: &[PromptText]) -> Self {
        let mut domains = Self::default();
        for prompt in texts {
            for pattern in OFFERED_TOGETHER.iter() {
                domains.add_offers(pattern, &prompt.text);
            }
            for pattern in MARKED_ALIKE.iter() {
                let labels = pattern.captures_iter(&prompt.text).filter_map(|found| found.get(1));
                domains.add(labels.map(|label| label.as_str().trim().to_owned()).collect());
            }
            domains.add_letters(&prompt.text);
            domains.add_ranges(&prompt.text);
        }
        domains
    }

    /// The set of labels that these values come from: the first of those that hold the most of them, if that is
    /// at least half. Labels stand as they were observed.
    pub(super) fn labels(&self, observed: &[&str]) -> Option<Vec<String>> {
        let exact = |own: &str, label: &str| own == label;
        // One letter's case may be all that it says.
        let alike =
            |own: &str, label: &str| own.chars().count() > 1 && own.to_lowercase() == label.to_lowercase();
        let group = self.group(observed, exact).or_else(|| self.group(observed, alike))?;
        let as_observed = |own: &String| {
            let is_held = group.iter().any(|label| observed.contains(&label.as_str()));
            let spelling = observed.iter().find(|label| !is_held && alike(own, label));
            spelling.map_or_else(|| own.clone(), |label| (*label).to_owned())
        };
        Some(group.iter().map(as_observed).collect())
    }

    fn group(&self, observed: &[&str], is_same: impl Fn(&str, &str) -> bool) -> Option<&Vec<String>> {
        let held = |group: &[String]| {
            observed.iter().filter(|label| group.iter().any(|own| is_same(own, label))).count()
        };
        let most = self.groups.iter().map(|group| held(group)).max().filter(|most| *most > 0)?;
        let group = self.groups.iter().find(|group| held(group) == most);
        group.filter(|_| most * 2 >= observed.len())
    }

    /// How the prompt spells this label; as written where it stands so, or where two could be meant.
    pub(super) fn spelling(&self, written: &str) -> Option<&str> {
        let is_held = |group: &&Vec<String>| group.iter().any(|label| label == written);
        if let Some(group) = self.groups.iter().find(is_held) {
            return group.iter().find(|label| *label == written).map(String::as_str);
        }
        self.groups.iter().find_map(|group| {
            let labels: Vec<&str> = group.iter().map(String::as_str).collect();
            repair::spelling(written, &labels)
        })
    }

    /// The first common range of the prompt that holds all these numbers.
    pub(super) fn range(&self, observed: &[f64]) -> Option<(f64, f64)> {
        let holds = |range: &&(f64, f64)| observed.iter().all(|x| *x >= range.0 && *x <= range.1);
        self.ranges.iter().find(holds).copied()
    }

    fn add(&mut self, labels: Vec<String>) {
        let mut group: Vec<String> = Vec::new();
        for label in labels.into_iter().filter(|label| !label.is_empty()) {
            if !group.contains(&label) {
                group.push(label);
            }
        }
        uncapitalised(&mut group);
        if (2..=MAX_LABELS).contains(&group.len())
            && self.groups.len() < MAX_GROUPS
            && !self.groups.contains(&group)
        {
            self.groups.push(group);
        }
    }

    /// "yes or no", "A, B or C", `"good"|"bad"`.
    fn add_offers(&mut self, pattern: &Regex, text: &str) {
        for offer in pattern.find_iter(text) {
            let labels = LABEL.find_iter(offer.as_str()).map(|label| label.as_str());
            let labels = labels.filter(|label| !matches!(*label, "or" | "and" | "oder"));
            let labels: Vec<String> =
                labels.map(|label| label.trim_matches(['"', '\'', '`', '“', '”']).to_owned()).collect();
            if labels.iter().all(|label| label.chars().count() <= LONGEST_LABEL) {
                self.add(labels);
            }
        }
    }

    /// "one of CPI", "A-E".
    fn add_letters(&mut self, text: &str) {
        for found in LETTERS.captures_iter(text) {
            let word = found.get(1).map_or("", |word| word.as_str());
            self.add(word.chars().map(String::from).collect());
        }
        for found in LETTER_RANGE.captures_iter(text) {
            let letter = |index| found.get(index).and_then(|part| part.as_str().chars().next());
            if let (Some(first), Some(last)) = (letter(1), letter(2)) {
                self.add((first..=last).map(String::from).collect());
            }
        }
    }

    fn add_ranges(&mut self, text: &str) {
        for found in RANGE.captures_iter(text) {
            let end = |index| found.get(index).and_then(|part| part.as_str().parse::<f64>().ok());
            let (Some(min), Some(max)) = (end(1), end(2)) else { continue };
            let is_common =
                COMMON_STARTS.contains(&min) && max > min && (max <= 10.0 || COMMON_ENDS.contains(&max));
            if is_common && !self.ranges.contains(&(min, max)) && self.ranges.len() < MAX_GROUPS {
                self.ranges.push((min, max));
            }
        }
    }
}

#[expect(clippy::expect_used, reason = "the patterns are constant and tested")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

static OFFERED_TOGETHER: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let quoted = r#"(?:"[^"\n]{1,40}"|'[^'\n]{1,40}'|`[^`\n]{1,40}`|“[^”\n]{1,40}”)"#;
    // Why: a bounded repetition of a Unicode class compiles to megabytes; lengths are looked at afterwards.
    let word = r"[\p{L}\p{N}][\p{L}\p{N}_+-]*";
    vec![
        pattern(&format!(r"{quoted}(?:\s*(?:,|\||/|;)?\s*(?:or|and)?\s*{quoted})+")),
        pattern(&format!(r"\b{word}(?:, ?{word})*,? (?:or|oder) {word}\b")),
        pattern(&format!(r"\b{word}(?: ?[|/] ?{word})+\b")),
    ]
});
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#""[^"\n]{1,40}"|'[^'\n]{1,40}'|`[^`\n]{1,40}`|“[^”\n]{1,40}”|[\p{L}\p{N}][\p{L}\p{N}_+-]*"#)
});
/// Labels that stand apart in one kind of mark.
static MARKED_ALIKE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    vec![
        pattern(r"\[\[([^\[\]\n]{1,24})\]\]"),
        pattern(r"(?i)\bGRADE: ?([A-Z])\b"),
        pattern(r"\\boxed\{([^{}\n]{1,24})\}"),
        pattern(r"(?m)\(([A-Z]|[a-z]{2,12})\) "),
        pattern(r"\[([A-Z][A-Za-z ]{1,24})\]"),
    ]
});
static LETTERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bone of ([A-Z]{2,8})\b"));
static LETTER_RANGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([A-Z]) ?(?:-|–|to) ?([A-Z])\b"));
static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:^|[^\d.])(-?\d{1,3}(?:\.\d)?) ?(?:-|–|—|to|and|\.\.\.?) ?(-?\d{1,3}(?:\.\d)?)\b")
});

/// "Yes or no?" has its capital from the place in the sentence, which is none of the label's.
fn uncapitalised(labels: &mut [String]) {
    let Some((first, others)) = labels.split_first_mut() else { return };
    let starts_low = |label: &String| label.chars().next().is_some_and(char::is_lowercase);
    let mut letters = first.chars();
    let is_capitalised = letters.next().is_some_and(char::is_uppercase)
        && first.chars().count() > 1
        && letters.all(|letter| !letter.is_uppercase());
    if is_capitalised && !others.is_empty() && others.iter().all(starts_low) {
        *first = first.to_lowercase();
    }
}

#[cfg(test)]
mod tests {
    use super::{Domains, PromptText};

    fn of(text: &str) -> Domains {
        Domains::of(&[PromptText { is_instruction: true, text: text.to_owned() }])
    }

    #[test]
    fn labels_are_found_as_prompts_offer_them() {
        for (text, observed, labels) in [
            ("Answer yes or no.", "yes", vec!["yes", "no"]),
            ("the single word CORRECT or INCORRECT.", "CORRECT", vec!["CORRECT", "INCORRECT"]),
            ("\"yes\"|\"no\"|\"borderline\"", "no", vec!["yes", "no", "borderline"]),
            ("end with \"[[A]]\" if A, \"[[B]]\" if B, \"[[C]]\" for a tie", "C", vec!["A", "B", "C"]),
            ("LETTER one of CPI", "P", vec!["C", "P", "I"]),
            ("one letter A-E", "D", vec!["A", "B", "C", "D", "E"]),
            ("'GRADE: C' (correct) or 'GRADE: I'", "I", vec!["C", "I"]),
            ("a value from \"1\", \"2\", \"3\"", "2", vec!["1", "2", "3"]),
            ("only m or M, nothing else", "m", vec!["m", "M"]),
        ] {
            assert_eq!(
                of(text).labels(&[observed]),
                Some(labels.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>()),
                "{text}"
            );
        }
        assert_eq!(of("nothing here").labels(&["yes"]), None);
    }

    #[test]
    fn spelling_follows_the_prompt_where_it_is_clear() {
        assert_eq!(of("yes or no").spelling("Yes"), Some("yes"));
        assert_eq!(of("Yes or no?").spelling("YES"), Some("yes"));
        assert_eq!(of("Yes or No?").spelling("yes"), Some("Yes"));
        assert_eq!(of("m or M").spelling("m"), Some("m"));
        assert_eq!(of("yes or no").spelling("maybe"), None);
    }

    #[test]
    fn ranges_are_common_ones() {
        assert_eq!(of("rate from 1 to 10, in 2-3 words").range(&[4.0, 9.0]), Some((1.0, 10.0)));
        assert_eq!(of("between 0 and 1").range(&[0.5]), Some((0.0, 1.0)));
        assert_eq!(of("between 0 and 1").range(&[5.0]), None);
    }
}
