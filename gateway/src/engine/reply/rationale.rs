//! Why the judge said so, and what it quoted: never part of the verdict, kept as written.

use std::ops::Range;

use super::cleanup::Folded;
use super::cursor::Cursor;
use super::json::{Json, Member, Node, unescape};
use super::layout::Layout;
use super::lines::Lines;
use super::quotes;
use super::verdict_object::plain_key;

const REASON_KEYS: [&str; 24] = [
    "reason",
    "reasons",
    "reasoning",
    "rationale",
    "explanation",
    "feedback",
    "justification",
    "comment",
    "comments",
    "analysis",
    "critique",
    "motivo",
    "razon",
    "razonamiento",
    "explicacion",
    "comentario",
    "justificacion",
    "理由",
    "原因",
    "说明",
    "解释",
    "反馈",
    "评语",
    "分析",
];
const EVIDENCE_WORDS: [&str; 12] = [
    "evidence",
    "quotes",
    "quote",
    "citations",
    "citation",
    "evidencia",
    "evidencias",
    "citas",
    "cita",
    "证据",
    "引用",
    "引文",
];
/// Labels that templates ask for before the reasons.
const REASON_LABELS: [&str; 13] = [
    "feedback",
    "reasoning",
    "rationale",
    "explanation",
    "reason",
    "analysis",
    "comentario",
    "explicacion",
    "razonamiento",
    "反馈",
    "理由",
    "说明",
    "分析",
];

/// A reply's original text, and the way back to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) original: &'t str,
    pub(super) folded: &'t Folded,
}

impl<'t> Source<'t> {
    fn slice(self, folded: Range<usize>) -> &'t str {
        self.original.get(self.folded.original(folded)).unwrap_or_default()
    }

    fn string(self, node: &Node) -> Option<String> {
        let text = matches!(node.json, Json::String).then(|| unescape(self.slice(node.content())))?;
        Some(text).filter(|text| !text.trim().is_empty())
    }
}

/// The first reason among the members.
pub(super) fn reason(source: Source<'_>, members: &[Member]) -> Option<String> {
    members
        .iter()
        .filter(|member| REASON_KEYS.contains(&plain_key(&member.key).as_str()))
        .find_map(|member| source.string(&member.value))
}

/// All quotes among the members: a string, or a list of strings.
pub(super) fn quoted_in(source: Source<'_>, members: &[Member]) -> Vec<String> {
    let quoted = members.iter().filter(|member| EVIDENCE_WORDS.contains(&plain_key(&member.key).as_str()));
    quoted
        .flat_map(|member| member.value.json.elements().unwrap_or(std::slice::from_ref(&member.value)))
        .filter_map(|node| source.string(node))
        .collect()
}

/// The words before the verdict, or else those behind it: some have to be the judge's own.
pub(super) fn prose(source: Source<'_>, layout: &Layout, around: [Range<usize>; 2]) -> Option<String> {
    let [before, behind] = around.map(|range| {
        let own = layout.own.get(range.clone()).unwrap_or_default();
        if own.chars().any(char::is_alphanumeric) { source.slice(range) } else { "" }
    });
    let before = without_label(without_announcement(before).trim());
    let behind = behind.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
    [before, behind].into_iter().find(|text| text.chars().any(char::is_alphanumeric)).map(ToOwned::to_owned)
}

/// Quotations on lines such as `Evidence: "…"`, and on list lines below them.
pub(super) fn quoted_in_lines(source: Source<'_>, layout: &Layout) -> Vec<String> {
    let text = source.folded.text().get(..layout.own.len()).unwrap_or_default();
    let own = Lines::of(&layout.own);
    let whole = Lines::of(text);
    let mut evidence = Vec::new();
    let mut is_listing = false;
    for line in whole.from(0) {
        let mut cursor = Cursor::over(&layout.own, line.clone());
        cursor.skip(|c| c.is_whitespace() || matches!(c, '-' | '*' | '•' | '#' | '_'));
        let is_labelled = is_label(cursor);
        // In the judge's own words, a listed quotation leaves nothing.
        is_listing = is_labelled || (is_listing && !own.text(&line).chars().any(char::is_alphanumeric));
        if is_listing {
            let quotations = quotes::find(whole.text(&line));
            evidence.extend(quotations.into_iter().map(|span| {
                let marked = source.slice(line.start + span.start..line.start + span.end);
                let mut inner = marked.chars();
                inner.next();
                inner.next_back();
                inner.as_str().to_owned()
            }));
        }
    }
    evidence
}

fn is_label(mut cursor: Cursor<'_>) -> bool {
    cursor.eat_any_phrase(&EVIDENCE_WORDS) && {
        cursor.skip(|c| matches!(c, ' ' | '*' | '_'));
        cursor.eat(|c| c == ':')
    }
}

/// Without a last line that only leads to the verdict: `Final rating:`, or an opened fence.
fn without_announcement(text: &str) -> &str {
    let text = text.trim_end();
    let text =
        text.strip_suffix("json").unwrap_or(text).trim_end_matches(['`', '~', '*', '_', ' ', '#', '\n']);
    let last_line = text.rfind('\n').map_or(0, |at| at + 1);
    let is_announcement = text.trim_end_matches(['*', '_']).ends_with([':', '：']);
    if is_announcement { text.get(..last_line).unwrap_or_default() } else { text }
}

fn without_label(text: &str) -> &str {
    let mut cursor = Cursor::over(text, 0..text.len());
    cursor.skip(|c| matches!(c, '*' | '_' | '#' | ' '));
    if !cursor.eat_any_phrase(&REASON_LABELS) {
        return text;
    }
    cursor.skip(|c| matches!(c, '*' | '_' | ' '));
    if !cursor.eat(|c| matches!(c, ':' | '：')) {
        return text;
    }
    cursor.rest().trim_start_matches(['*', '_']).trim()
}
