//! Text tables: columns as wide as their widest cell, numbers to the right.

/// One column's heading and side.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub heading: &'static str,
    pub align: Align,
    /// Longer cells are cut with an ellipsis; 0: never.
    pub max_width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

impl Column {
    pub const fn left(heading: &'static str) -> Self {
        Self { heading, align: Align::Left, max_width: 0 }
    }
    pub const fn right(heading: &'static str) -> Self {
        Self { heading, align: Align::Right, max_width: 0 }
    }
    #[must_use]
    pub const fn at_most(self, max_width: usize) -> Self {
        Self { max_width, ..self }
    }
}

/// Renders rows under their headings. A row shorter than the columns is filled with blanks.
pub fn render(columns: &[Column], rows: &[Vec<String>]) -> String {
    let cell = |row: &[String], index: usize, column: &Column| -> String {
        shorten(row.get(index).map_or("", String::as_str), column.max_width)
    };
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let widest = rows.iter().map(|row| width(&cell(row, index, column))).max().unwrap_or(0);
            widest.max(width(column.heading))
        })
        .collect();
    let mut text = String::new();
    let headings: Vec<String> = columns.iter().map(|column| column.heading.to_owned()).collect();
    push_row(&mut text, columns, &widths, |index, _| headings.get(index).cloned().unwrap_or_default());
    for row in rows {
        push_row(&mut text, columns, &widths, |index, column| cell(row, index, column));
    }
    text
}

fn push_row(
    text: &mut String,
    columns: &[Column],
    widths: &[usize],
    cell: impl Fn(usize, &Column) -> String,
) {
    let mut line = String::new();
    for (index, (column, &wide)) in columns.iter().zip(widths).enumerate() {
        if index > 0 {
            line.push_str("  ");
        }
        let content = cell(index, column);
        let padding = " ".repeat(wide.saturating_sub(width(&content)));
        match column.align {
            Align::Left => {
                line.push_str(&content);
                line.push_str(&padding);
            }
            Align::Right => {
                line.push_str(&padding);
                line.push_str(&content);
            }
        }
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Terminal cells, near enough: wide East Asian characters count two.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| match u32::from(c) {
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60
            | 0x1f300..=0x1faff => 2,
            _ => 1,
        })
        .sum()
}

/// One line, control characters blanked, cut to `max_width`.
fn shorten(text: &str, max_width: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if max_width == 0 || width(&clean) <= max_width {
        return clean;
    }
    let mut cut = String::new();
    for c in clean.chars() {
        if width(&cut) + width(c.encode_utf8(&mut [0; 4])) >= max_width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_and_shortens() {
        let columns = [Column::left("case").at_most(5), Column::right("value")];
        let rows = vec![vec!["q1".into(), "4".into()], vec!["a-long-id".into(), "3.25".into()]];
        assert_eq!(render(&columns, &rows), "case   value\nq1         4\na-lo…   3.25\n");
    }

    #[test]
    fn control_characters_cannot_reach_the_terminal() {
        let rows = vec![vec!["a\u{1b}[31mb\n".into()]];
        assert!(!render(&[Column::left("x")], &rows).contains('\u{1b}'));
    }

    #[test]
    fn wide_characters_take_two_cells() {
        let rows = vec![vec!["评分".into(), "1".into()], vec!["abcd".into(), "2".into()]];
        assert_eq!(render(&[Column::left("x"), Column::left("y")], &rows), "x     y\n评分  1\nabcd  2\n");
    }
}
