//! `numeric`: the answer's one number is near a value, or near the one number of the case's reference.

use serde::Serialize;

use super::{Finding, no_reference};

/// A difference up to the larger of the two tolerances passes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Numeric {
    /// `None`: the number of the case's reference.
    pub value: Option<f64>,
    /// In the unit of the value.
    pub tolerance: f64,
    /// As a share of the value.
    pub relative_tolerance: f64,
}

/// How many different numbers a text has.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Numbers {
    None,
    One(f64),
    Several,
}

impl Numeric {
    pub(super) fn run(&self, output: &str, reference: Option<&str>) -> Finding {
        let wanted = match (self.value, reference) {
            (Some(value), _) => value,
            (None, None) => return no_reference(),
            (None, Some(reference)) => match numbers(reference) {
                Numbers::One(value) => value,
                Numbers::None => return undecidable("the reference has no number"),
                Numbers::Several => return undecidable("the reference has several numbers"),
            },
        };
        match numbers(output) {
            Numbers::None => Finding::Fail(String::from("the answer has no number")),
            Numbers::Several => undecidable("the answer has several numbers"),
            Numbers::One(found) => Finding::pass_or(self.is_near(found, wanted), || {
                String::from("the answer's number is beyond the tolerance")
            }),
        }
    }

    fn is_near(&self, found: f64, wanted: f64) -> bool {
        let allowed = self.tolerance.max(self.relative_tolerance * wanted.abs());
        // Decimal fractions are rounded on the way in: 1.1 is not 0.1 away from 1, but a hair more.
        let rounding = 4.0 * f64::EPSILON * found.abs().max(wanted.abs());
        (found - wanted).abs() <= allowed + rounding
    }
}

fn undecidable(why: &str) -> Finding {
    Finding::Undecidable(why.to_owned())
}

/// Numbers such as `-3`, `0.5`, `.5`, `1,234.5` and `6e23`. Digits within a word (`B2`) are no number.
fn numbers(text: &str) -> Numbers {
    let mut found: Option<f64> = None;
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let length = number_length(rest, before);
        let Some(written) = rest.get(..length).filter(|written| !written.is_empty()) else {
            before = Some(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        };
        let plain = written.replace(',', "").replace('\u{2212}', "-");
        // A number beyond what can be computed with is not one that can be compared.
        // Adding zero makes one of the two zeros.
        let value = plain.parse::<f64>().ok().map(|value| value + 0.0);
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return Numbers::Several;
        };
        if found.is_some_and(|other| other.total_cmp(&value).is_ne()) {
            return Numbers::Several;
        }
        found = Some(value);
        before = written.chars().next_back();
        rest = rest.get(length..).unwrap_or_default();
    }
    found.map_or(Numbers::None, Numbers::One)
}

/// Bytes of the number at the start of the text; 0: none starts here.
fn number_length(text: &str, before: Option<char>) -> usize {
    let is_inside_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if is_inside_word {
        return 0;
    }
    let sign = text.chars().next().filter(|c| matches!(c, '+' | '-' | '\u{2212}')).map_or(0, char::len_utf8);
    let mut length = sign + digits(text, sign);
    let whole = length - sign;
    if (1..=3).contains(&whole) {
        // Groups of three digits after a comma.
        while starts_with(text, length, ',') && digits(text, length + 1) == 3 {
            length += 4;
        }
    }
    let fraction = if starts_with(text, length, '.') { digits(text, length + 1) } else { 0 };
    if fraction > 0 {
        length += 1 + fraction;
    } else if whole == 0 {
        return 0;
    }
    if starts_with(text, length, 'e') || starts_with(text, length, 'E') {
        let sign = usize::from(starts_with(text, length + 1, '-') || starts_with(text, length + 1, '+'));
        let exponent = digits(text, length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn starts_with(text: &str, at: usize, c: char) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(c))
}

fn digits(text: &str, at: usize) -> usize {
    text.get(at..).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_number_of_a_text_is_found() {
        let check = |text: &str, wanted: Numbers| assert_eq!(numbers(text), wanted, "{text:?}");
        check("4", Numbers::One(4.0));
        check(" The answer is -3.50, exactly.", Numbers::One(-3.5));
        check("It costs $1,234,567.5.", Numbers::One(1_234_567.5));
        check("6.02e23 of them", Numbers::One(6.02e23));
        check("\u{2212}5 \u{b0}C", Numbers::One(-5.0));
        check(".5", Numbers::One(0.5));
        check("50%", Numbers::One(50.0));
        check("4 = 4.0", Numbers::One(4.0));
        check("in 5years", Numbers::One(5.0));
        check("four", Numbers::None);
        check("vitamin B12", Numbers::None);
        check("", Numbers::None);
        check("- . , e", Numbers::None);
        check("2+2=4", Numbers::Several);
        check("1,5", Numbers::Several);
        check("3-4", Numbers::Several);
        check("1e999", Numbers::Several);
    }
}
