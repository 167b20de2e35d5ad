//! Text as XML 1.0 wants it.

use std::fmt::{self, Display, Formatter, Write};

/// Escaped for content and for attributes in double quotes. Characters that XML cannot hold, not even as a reference,
/// become U+FFFD.
pub(super) struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // Written out, a parser would make blanks of these in an attribute.
                '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(c))?,
                '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Escaped;

    #[test]
    fn what_xml_cannot_hold_is_replaced_and_the_rest_escaped() {
        let check = |text: &str, written: &str| assert_eq!(Escaped(text).to_string(), written);
        check("a<b>&\"'c", "a&lt;b&gt;&amp;&quot;'c");
        check("]]>", "]]&gt;");
        check("two\nlines\r\tmore", "two&#10;lines&#13;&#9;more");
        check("\0\u{1b}[31m\u{fffe}\u{ffff}", "\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}");
        check("\u{7f}\u{85}é漢😀", "\u{7f}\u{85}é漢😀");
    }
}
