//! A stream of `GenerateContentResponse`s folded into a [`ChatResponse`]. Pure: text in, answer out.

use super::response::Draft;
use crate::chat::ChatResponse;
use crate::error::ErrorKind;
use crate::vendors::sse::events;
use crate::vendors::unusable::Unusable;

/// Folds a whole stream body. An error event fails it wherever it stands; nothing marks the end, so a stream without a
/// finish or block reason was cut.
pub fn fold(body: &str) -> Result<ChatResponse, ErrorKind> {
    read(body).map_err(Unusable::into_kind)
}

pub(crate) fn read(body: &str) -> Result<ChatResponse, Unusable> {
    let mut draft = Draft::default();
    for data in events(body) {
        let piece =
            serde_json::from_str(&data).map_err(|_| Unusable::garbage("no JSON of a generated piece"))?;
        draft.add(piece, 200)?;
    }
    if draft.finish_reason.is_none() && draft.block_reason.is_none() {
        return Err(Unusable::cut());
    }
    draft.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_finish() {
        let piece = |text: &str, end: &str| {
            format!(
                "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}}{end}}}]}}\n\n"
            )
        };
        let end = ",\"finishReason\":\"STOP\"";
        assert_eq!(fold(&(piece("4", "") + &piece("2", end))).unwrap().text, "42");
        let check = |body: &str, expected: &str| {
            let error = fold(body).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{body}: {error}");
        };
        check(&piece("4", ""), "connection failed");
        check("", "connection failed");
        check("data: nonsense\n\n", "unreadable answer");
        check("data: {\"error\":{\"code\":503,\"message\":\"x\"}}\n\n", "server failed with status 503");
    }
}
