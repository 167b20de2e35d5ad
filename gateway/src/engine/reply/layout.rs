//! Which parts of a reply are the judge's own words, and which are quoted or JSON.
//!
//! Knows Markdown's fences, block quotes and code spans, and quotation marks. Knows nothing of verdicts.

use std::collections::HashMap;
use std::ops::Range;

use super::json::{self, Node};
use super::lines::lines;
use super::quotes;

/// Stands in `Layout::own` for every byte of a JSON value.
pub(super) const JSON: u8 = 1;
/// Stands in `Layout::own` for every byte that is quoted.
pub(super) const QUOTED: u8 = 2;

#[derive(Debug)]
pub(super) struct Layout {
    /// The judge's own words: the text with everything else overwritten, so that every offset stays.
    pub(super) own: String,
    /// JSON objects, and arrays that begin with one, outside quotes. In order.
    pub(super) objects: Vec<Node>,
}

impl Layout {
    pub(super) fn of(text: &str, body: Range<usize>) -> Self {
        let mut own = text.as_bytes().get(..body.end).unwrap_or_default().to_vec();
        overwrite(&mut own, 0..body.start, b' ');
        // Why first: an object's strings may hold quotes, fences and line breaks of their own.
        let mut objects = json::scan(text, body);
        for object in &objects {
            overwrite(&mut own, object.span.clone(), JSON);
        }
        hide_fences(&mut own);
        hide_block_quotes(&mut own);
        for paragraph in paragraphs(&own) {
            hide_code_spans(&mut own, paragraph.clone());
            quotes::hide(&mut own, paragraph);
        }
        objects.retain(|object| own.get(object.span.start) == Some(&JSON));
        // Whole characters are overwritten, so what is left is valid UTF-8.
        Self { own: String::from_utf8(own).unwrap_or_default(), objects }
    }

    /// Whether this place is part of a quote or of a JSON value.
    pub(super) fn hides(&self, at: usize) -> bool {
        self.own.as_bytes().get(at).is_some_and(|byte| matches!(*byte, JSON | QUOTED))
    }
}

/// Takes off fences that enclose all of the text: they are decoration. Fences may be nested.
pub(super) fn unwrap_fences(text: &str, body: Range<usize>) -> Range<usize> {
    let mut body = trim(text, body);
    while let Some(inner) = inside_whole_fence(text.as_bytes(), body.clone()) {
        body = trim(text, inner);
    }
    body
}

/// The range without white space at its ends.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let part = text.get(range.clone()).unwrap_or_default();
    let start = range.start + (part.len() - part.trim_start().len());
    start..(start + part.trim().len())
}

pub(super) fn overwrite(bytes: &mut [u8], range: Range<usize>, byte: u8) {
    if let Some(part) = bytes.get_mut(range) {
        part.fill(byte);
    }
}

/// Three or more backticks or tildes at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FenceLine {
    mark: u8,
    length: usize,
    /// Nothing follows, so it may close.
    is_bare: bool,
}

impl FenceLine {
    fn read(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii();
        let mark = *line.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = line.iter().take_while(|byte| **byte == mark).count();
        let info = line.get(length..).unwrap_or_default();
        // With more backticks on the line it is a code span.
        let is_fence = length >= 3 && !(mark == b'`' && info.contains(&b'`'));
        is_fence.then_some(Self { mark, length, is_bare: info.is_empty() })
    }

    fn closes(self, opening: Self) -> bool {
        self.is_bare && self.mark == opening.mark && self.length >= opening.length
    }
}

fn hide_fences(own: &mut [u8]) {
    let all: Vec<(Range<usize>, Option<FenceLine>)> = lines(own, 0..own.len())
        .map(|line| (line.clone(), own.get(line).and_then(FenceLine::read)))
        .collect();
    let mut open: Option<(Range<usize>, FenceLine)> = None;
    for (line, fence) in all {
        match (&open, fence) {
            (None, Some(fence)) => open = Some((line, fence)),
            (Some((first, opening)), Some(fence)) if fence.closes(*opening) => {
                hide_fence(own, first.clone(), line);
                open = None;
            }
            (Some(_) | None, _) => {}
        }
    }
    if let Some((first, _)) = open {
        let end = own.len();
        hide_fence(own, first, end..end);
    }
}

/// Hides the two fence lines, and what is between them unless it is JSON and nothing else.
fn hide_fence(own: &mut [u8], first: Range<usize>, last: Range<usize>) {
    let content = own.get(first.end..last.start).unwrap_or_default();
    if content.iter().all(|byte| *byte == JSON || *byte == b',' || byte.is_ascii_whitespace()) {
        overwrite(own, first, QUOTED);
        overwrite(own, last, QUOTED);
    } else {
        overwrite(own, first.start..last.end, QUOTED);
    }
}

fn hide_block_quotes(own: &mut [u8]) {
    let quoted: Vec<Range<usize>> = lines(own, 0..own.len())
        .filter(|line| own.get(line.clone()).is_some_and(|line| line.trim_ascii_start().starts_with(b">")))
        .collect();
    for line in quoted {
        overwrite(own, line, QUOTED);
    }
}

/// Stretches between blank, fenced and quoted lines: code spans and quotations end with their paragraph.
fn paragraphs(own: &[u8]) -> Vec<Range<usize>> {
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let mut follows_on = false;
    for line in lines(own, 0..own.len()) {
        let is_text = own
            .get(line.clone())
            .is_some_and(|bytes| bytes.iter().any(|byte| *byte != QUOTED && !byte.is_ascii_whitespace()));
        match paragraphs.last_mut() {
            Some(last) if is_text && follows_on => last.end = line.end,
            _ if is_text => paragraphs.push(line),
            _ => {}
        }
        follows_on = is_text;
    }
    paragraphs
}

/// A run of backticks up to the next run of the same length. Three or more around JSON alone are a fence on one line.
fn hide_code_spans(own: &mut [u8], paragraph: Range<usize>) {
    let runs = backtick_runs(own, paragraph);
    let mut next_of_length: HashMap<usize, usize> = HashMap::new();
    let mut closers: Vec<Option<usize>> = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        if let Some(closer) = closers.get_mut(index) {
            *closer = next_of_length.insert(run.len(), index);
        }
    }
    let mut index = 0;
    while let Some(open) = runs.get(index) {
        let closer = closers.get(index).copied().flatten();
        if let Some(close) = closer.and_then(|closer| runs.get(closer)) {
            if open.len() >= 3 && is_json_with_info(own.get(open.end..close.start).unwrap_or_default()) {
                overwrite(own, open.clone(), QUOTED);
                overwrite(own, close.clone(), QUOTED);
            } else {
                overwrite(own, open.start..close.end, QUOTED);
            }
        }
        index = closer.unwrap_or(index) + 1;
    }
}

fn backtick_runs(own: &[u8], paragraph: Range<usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in paragraph.filter(|at| own.get(*at) == Some(&b'`')) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn is_json_with_info(content: &[u8]) -> bool {
    let content = content.trim_ascii();
    let content = content.strip_prefix(b"json").unwrap_or(content).trim_ascii_start();
    !content.is_empty() && content.iter().all(|byte| *byte == JSON)
}

/// What a fence holds that starts and ends the text; an unclosed one runs to the end.
fn inside_whole_fence(text: &[u8], body: Range<usize>) -> Option<Range<usize>> {
    let mut all = lines(text, body.clone());
    let first = all.next()?;
    let opening = text.get(first.clone()).and_then(FenceLine::read);
    let Some(opening) = opening else {
        return inside_one_line_fence(text, body);
    };
    let fence = |line: &Range<usize>| text.get(line.clone()).and_then(FenceLine::read);
    let rest: Vec<Range<usize>> = all.collect();
    let closes = |line: &Range<usize>| fence(line).is_some_and(|fence| fence.closes(opening));
    let Some(close) = rest.iter().position(closes) else {
        return Some(first.end..body.end);
    };
    let last = rest.len() - 1;
    // The same marks inside the same marks: the second line opens too, and the last two lines both close.
    let is_nested = rest.first().is_some_and(|line| fence(line).is_some_and(|fence| !fence.is_bare))
        && close + 1 == last
        && rest.get(last).is_some_and(closes);
    if close == last || is_nested { rest.get(last).map(|line| first.end..line.start) } else { None }
}

/// "```4```" as the whole text.
fn inside_one_line_fence(text: &[u8], body: Range<usize>) -> Option<Range<usize>> {
    let content = text.get(body.clone())?.strip_prefix(b"```")?.strip_suffix(b"```")?;
    let is_one = !content.is_empty() && !content.contains(&b'`') && !content.contains(&b'\n');
    let info = if content.starts_with(b"json") { 4 } else { 0 };
    is_one.then_some(body.start + 3 + info..body.end - 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `own` has `_` for quoted and `#` for JSON.
    fn check(text: &str, own: &str) {
        let layout = Layout::of(text, 0..text.len());
        let seen: String = layout
            .own
            .chars()
            .map(|c| match c {
                '\u{1}' => '#',
                '\u{2}' => '_',
                other => other,
            })
            .collect();
        assert_eq!(seen, own, "{text}");
    }

    #[test]
    fn json_is_found_before_quotes() {
        check(r#"a {"b": "c"} d"#, "a ########## d");
        check(r#"says "{"b": 1}" so"#, "says __________ so");
        check("code `{\"b\": 1}` so", "code __________ so");
        check("{\"b\": \"\n```\n\"}", "##############");
    }

    #[test]
    fn fences_hide_all_but_json() {
        check("```\n4\n```\n5", "_________\n5");
        check("```json\n{}\n```\n5", "_______\n##\n___\n5");
        check("~~~\n4\n```", "_________");
        check("```json {} ```", "___ json ## ___".replace(" json", "json").as_str());
    }

    #[test]
    fn block_quotes_and_code_spans_are_hidden() {
        check("> 4\n5", "___\n5");
        check("a `b` c ``d`e`` f", "a ___ c _______ f");
        check("a ` b\n\nc ` d", "a ` b\n\nc ` d");
    }

    #[test]
    fn a_fence_around_everything_is_taken_off() {
        for (text, inner) in [
            ("```\n4\n```", "4"),
            ("```json\n{}\n```\n", "{}"),
            ("````\n```json\n{}\n```\n````", "{}"),
            ("```\n```json\n{}\n```\n```", "{}"),
            ("```4```", "4"),
            ("```\n4", "4"),
            ("```\n4\n```\n5\n```\n6\n```", "```\n4\n```\n5\n```\n6\n```"),
            ("a\n```\n4\n```", "a\n```\n4\n```"),
        ] {
            assert_eq!(&text[unwrap_fences(text, 0..text.len())], inner, "{text}");
        }
    }
}
