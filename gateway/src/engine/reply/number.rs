//! Numbers as judges write them: signs, a decimal point or comma, exponents, and the words from zero to ten.

use super::cursor::{Cursor, plain};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Number {
    /// The digits in ASCII, as `f64` parses them.
    One(String),
    /// `1,250`: a decimal comma or a separator of thousands.
    Either {
        decimal: String,
        thousands: String,
    },
    /// `3,4,5`: a list without spaces.
    Several,
    Infinite,
}

impl Number {
    /// Infinite beyond the range of `f64`. `None` for a list.
    pub(super) fn value(&self) -> Option<f64> {
        match self {
            Self::One(digits) | Self::Either { decimal: digits, .. } => digits.parse().ok(),
            Self::Infinite => Some(f64::INFINITY),
            Self::Several => None,
        }
    }

    /// A hundredth, exact to the last bit: 85 % is 0.85, not 85.0 / 100.0 of a rounded 85.
    pub(super) fn percent(&self) -> Option<f64> {
        match self {
            Self::One(digits) | Self::Either { decimal: digits, .. } if !digits.contains('e') => {
                format!("{digits}e-2").parse().ok()
            }
            Self::One(_) | Self::Either { .. } | Self::Infinite | Self::Several => {
                self.value().map(|x| x / 100.0)
            }
        }
    }
}

const WORDS: [(&str, &str); 24] = [
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("cero", "0"),
    ("uno", "1"),
    ("una", "1"),
    ("un", "1"),
    ("dos", "2"),
    ("tres", "3"),
    ("cuatro", "4"),
    ("cinco", "5"),
    ("seis", "6"),
    ("siete", "7"),
    ("ocho", "8"),
    ("nueve", "9"),
    ("diez", "10"),
];
const WORDS_ZH: [(&str, &str); 13] = [
    ("零", "0"),
    ("〇", "0"),
    ("一", "1"),
    ("二", "2"),
    ("两", "2"),
    ("三", "3"),
    ("四", "4"),
    ("五", "5"),
    ("六", "6"),
    ("七", "7"),
    ("八", "8"),
    ("九", "9"),
    ("十", "10"),
];

/// The caller checks that the number's last word ends where it stops.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Option<Number> {
    let mut ahead = *cursor;
    let number = read_digits(&mut ahead).or_else(|| {
        ahead = *cursor;
        read_word(&mut ahead)
    })?;
    *cursor = ahead;
    Some(number)
}

fn read_word(cursor: &mut Cursor<'_>) -> Option<Number> {
    let first = cursor.peek().filter(|c| c.is_alphabetic() || *c == '〇')?;
    let word = WORDS.iter().find(|(word, _)| word.starts_with(plain(first)) && cursor.eat_phrase(word));
    let word = word.or_else(|| WORDS_ZH.iter().find(|(word, _)| cursor.eat_start(word)));
    word.map(|(_, digits)| Number::One((*digits).to_owned()))
}

fn read_digits(cursor: &mut Cursor<'_>) -> Option<Number> {
    let sign = if cursor.eat(|c| matches!(c, '-' | '−' | '–')) { "-" } else { "" };
    if sign.is_empty() {
        cursor.eat(|c| c == '+');
    }
    if cursor.eat_phrase("infinity") || cursor.eat_phrase("inf") || cursor.eat(|c| c == '∞') {
        return Some(Number::Infinite);
    }
    let whole = digits(cursor);
    let mut groups = Vec::new();
    let separator = cursor.peek().filter(|c| matches!(c, '.' | ',' | '٫'));
    while cursor.peek() == separator
        && separator.is_some()
        && cursor.peek_second().is_some_and(|c| c.is_ascii_digit())
        && (separator == Some(',') || groups.is_empty())
    {
        cursor.bump();
        groups.push(digits(cursor));
    }
    let exponent = exponent(cursor);
    match (whole, groups.as_slice()) {
        ("", [] | [_, _, ..]) => None,
        ("", [fraction]) => Some(Number::One(format!("{sign}0.{fraction}{exponent}"))),
        (whole, []) => Some(Number::One(format!("{sign}{whole}{exponent}"))),
        (whole, [fraction]) => {
            let decimal = format!("{sign}{whole}.{fraction}{exponent}");
            let may_group = separator == Some(',') && fraction.len() == 3 && groups_thousands(whole);
            Some(if may_group {
                Number::Either { decimal, thousands: format!("{sign}{whole}{fraction}{exponent}") }
            } else {
                Number::One(decimal)
            })
        }
        (whole, groups) if groups_thousands(whole) && groups.iter().all(|group| group.len() == 3) => {
            Some(Number::One(format!("{sign}{whole}{}{exponent}", groups.concat())))
        }
        _ => Some(Number::Several),
    }
}

fn digits<'t>(cursor: &mut Cursor<'t>) -> &'t str {
    let rest = cursor.rest();
    let start = cursor.at();
    cursor.skip(|c| c.is_ascii_digit());
    rest.get(..cursor.at() - start).unwrap_or_default()
}

fn exponent(cursor: &mut Cursor<'_>) -> String {
    let mut ahead = *cursor;
    if !ahead.eat(|c| matches!(c, 'e' | 'E')) {
        return String::new();
    }
    let sign = if ahead.eat(|c| c == '-') { "-" } else { "" };
    if sign.is_empty() {
        ahead.eat(|c| c == '+');
    }
    let digits = digits(&mut ahead);
    if digits.is_empty() {
        return String::new();
    }
    *cursor = ahead;
    format!("e{sign}{digits}")
}

fn groups_thousands(whole: &str) -> bool {
    (1..=3).contains(&whole.len()) && !whole.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: f64, rest: &str) {
        let mut cursor = Cursor::over(text, 0..text.len());
        let number = read(&mut cursor).expect(text);
        assert_eq!(number.value().map(f64::to_bits), Some(value.to_bits()), "{text}");
        assert_eq!(cursor.rest(), rest, "{text}");
    }

    #[test]
    fn reads_digits() {
        check("4", 4.0, "");
        check("4.5/10", 4.5, "/10");
        check("7,5.", 7.5, ".");
        check("-1", -1.0, "");
        check("−1", -1.0, "");
        check("+.5", 0.5, "");
        check("1e1", 10.0, "");
        check("5 eggs", 5.0, " eggs");
        check("4.", 4.0, ".");
        check("4.5.2", 4.5, ".2");
        check("1,000,000", 1_000_000.0, "");
        check("1e999", f64::INFINITY, "");
        check("-Infinity", f64::INFINITY, "");
    }

    #[test]
    fn reads_words() {
        check("four stars", 4.0, " stars");
        check("Cuatro", 4.0, "");
        check("四分", 4.0, "分");
        check("十", 10.0, "");
    }

    #[test]
    fn lists_and_doubtful_commas_are_kept_apart() {
        for (text, number) in [
            ("3,4,5", Number::Several),
            ("1,250", Number::Either { decimal: "1.250".into(), thousands: "1250".into() }),
            ("0,250", Number::One("0.250".into())),
        ] {
            assert_eq!(read(&mut Cursor::over(text, 0..text.len())), Some(number), "{text}");
        }
        assert_eq!(read(&mut Cursor::over("none", 0..4)), None);
    }

    #[test]
    fn percent_is_exact() {
        let number = read(&mut Cursor::over("85", 0..2)).unwrap();
        assert_eq!(number.percent().map(f64::to_bits), Some(0.85_f64.to_bits()));
    }
}
