//! Takes leaked reasoning out of a reply. Reasoning is never read for a verdict.

use std::ops::Range;

use super::layout::Layout;

const OPENING: [&str; 3] = ["<think>", "<thinking>", "[think]"];
const CLOSING: [&str; 3] = ["</think>", "</thinking>", "[/think]"];

/// The stretches that are reasoning, in order. A closing tag alone ends reasoning that began before the reply; an
/// opening tag alone leaves nothing, unless every such tag is quoted: then the judge talks about it.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut reasoning: Vec<Range<usize>> = Vec::new();
    let mut open: Vec<Range<usize>> = Vec::new();
    for (span, tag) in tags(text) {
        match (tag, open.first()) {
            (Tag::Opening, _) => open.push(span),
            (Tag::Closing, Some(first)) => {
                reasoning.push(first.start..span.end);
                open.clear();
            }
            (Tag::Closing, None) => {
                reasoning.clear();
                reasoning.push(0..span.end);
            }
        }
    }
    if !open.is_empty() {
        let layout = Layout::of(text, 0..text.len());
        if !open.iter().all(|tag| layout.hides(tag.start)) {
            reasoning.clear();
            reasoning.push(0..text.len());
        }
    }
    reasoning
}

#[derive(Debug, Clone, Copy)]
enum Tag {
    Opening,
    Closing,
}

fn tags(text: &str) -> impl Iterator<Item = (Range<usize>, Tag)> {
    text.match_indices(['<', '[']).filter_map(|(at, _)| {
        let rest = text.get(at..)?;
        let length = |tags: &[&str]| tags.iter().find(|tag| starts_with(rest, tag)).map(|tag| tag.len());
        length(&OPENING)
            .map(|len| (at..at + len, Tag::Opening))
            .or_else(|| length(&CLOSING).map(|len| (at..at + len, Tag::Closing)))
    })
}

fn starts_with(text: &str, tag: &str) -> bool {
    text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left when the reasoning is cut out.
    fn check(text: &str, left: &str) {
        let mut visible = String::new();
        let mut at = 0;
        for range in find(text) {
            visible.push_str(&text[at..range.start]);
            at = range.end;
        }
        visible.push_str(&text[at..]);
        assert_eq!(visible, left, "{text}");
    }

    #[test]
    fn reasoning_goes_and_the_answer_stays() {
        check("<think>4?</think>3", "3");
        check("<THINKING>4?</thinking>\n3", "\n3");
        check("[THINK]4?[/THINK]3", "3");
        check("a<think>b</think>c<think>d</think>e", "ace");
        check("no tags", "no tags");
    }

    #[test]
    fn a_closing_tag_alone_ends_all_before_it() {
        check("so 4?</think>3", "3");
        check("<think>a <think> b</think> c</think>3", "3");
        check("a<think>b</think>c</think>d", "d");
    }

    #[test]
    fn an_opening_tag_alone_leaves_nothing() {
        check("[RESULT] 4 <think>hm", "");
        check("<think>a</think>3<think>b", "");
    }

    #[test]
    fn a_quoted_opening_tag_is_talk_about_the_tag() {
        check("It holds a \"<think>\" tag. 3", "It holds a \"<think>\" tag. 3");
        check("It holds `<think>`. 3", "It holds `<think>`. 3");
        check("It holds `<think>`. <think>3", "");
    }
}
