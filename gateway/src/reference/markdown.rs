//! Pieces of Markdown.

/// Says at the top of a page where it comes from.
pub(super) fn heading(title: &str, source: &str) -> String {
    format!("# {title}\n\n<!-- Written by `scripts/references` from {source}. Change it there. -->\n\n")
}

/// A table; nothing without rows.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: &mut dyn Iterator<Item = String>| -> String {
        let joined = cells.collect::<Vec<_>>().join(" | ");
        format!("| {joined} |\n")
    };
    let mut text = line(&mut headings.iter().map(|&heading| heading.to_owned()));
    text.push_str(&line(&mut headings.iter().map(|_| String::from("---"))));
    for row in rows {
        text.push_str(&line(&mut row.iter().map(|content| cell(content))));
    }
    text.push('\n');
    text
}

/// Text with an empty line behind it; nothing for no text.
pub(super) fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { [text, "\n\n"].concat() }
}

pub(super) fn code(text: &str) -> String {
    format!("`{text}`")
}

/// The place that a heading can be linked to, by the rules of the usual renderers.
pub(super) fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// On one line, and no bar that would end the cell.
fn cell(content: &str) -> String {
    content.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_cells() {
        let rows = [vec![String::from("a|b"), String::from("two\nlines")]];
        assert_eq!(table(&["x", "y"], &rows), "| x | y |\n| --- | --- |\n| a\\|b | two lines |\n\n");
        assert_eq!(table(&["x"], &[]), "");
    }

    #[test]
    fn anchors_are_those_of_the_renderers() {
        assert_eq!(anchor("`judges.NAME.params`"), "judgesnameparams");
        assert_eq!(anchor("POST /v1/verdicts"), "post-v1verdicts");
    }
}
