//! What each model on each server turned out to be: which parameters it refuses, and which model answers for it.
//!
//! Kept per model identity over reloads and, by the store, over restarts. When another model answers under the same
//! name, nothing that was learned of the old one holds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use providers::{Capabilities, Dialect, Learned};

use crate::store::rows::ModelFactsRow;

/// Learned longer ago than this, it is tried again: servers are upgraded.
const GOOD_FOR_US: i64 = 7 * 24 * 60 * 60 * 1_000_000;

/// Shared by all versions of the settings. Clones are the same knowledge.
#[derive(Debug, Clone, Default)]
pub struct ModelFacts(Arc<Mutex<BTreeMap<Place, Arc<ModelFact>>>>);

/// A model by the name it is asked under, at one address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    base_url: String,
    dialect: String,
    model: String,
}

/// What is known of one model at one address.
#[derive(Debug)]
pub(super) struct ModelFact {
    pub capabilities: Capabilities,
    /// The model that last said it answered.
    replied: Mutex<Option<String>>,
    /// What an earlier process had learned, and when: it does not become younger by being kept again.
    restored: Option<(Learned, i64)>,
}

impl ModelFacts {
    /// With what was learned before `now_us`, unless it is too old.
    pub fn restored(rows: Vec<ModelFactsRow>, now_us: i64) -> Self {
        let facts = Self::default();
        for row in rows.into_iter().filter(|row| now_us.saturating_sub(row.updated_us) <= GOOD_FOR_US) {
            let Ok(learned) = serde_json::from_str::<Learned>(&row.learned) else { continue };
            let Ok(dialect) = serde_json::from_value::<Dialect>(row.dialect.clone().into()) else { continue };
            let capabilities = Capabilities::new(dialect);
            capabilities.restore(&learned);
            let fact = ModelFact {
                capabilities,
                replied: Mutex::new(row.model_replied),
                restored: Some((learned, row.updated_us)),
            };
            facts.lock().insert(Place::of(dialect, &row.base_url, &row.model), Arc::new(fact));
        }
        facts
    }

    pub(super) fn of(&self, dialect: Dialect, base_url: &str, model: &str) -> Arc<ModelFact> {
        let fresh = || ModelFact {
            capabilities: Capabilities::new(dialect),
            replied: Mutex::default(),
            restored: None,
        };
        let mut places = self.lock();
        let place = Place::of(dialect, base_url, model);
        Arc::clone(places.entry(place).or_insert_with(|| Arc::new(fresh())))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Place, Arc<ModelFact>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is worth keeping over a restart.
    pub fn rows(&self, project: &str, now_us: i64) -> Vec<ModelFactsRow> {
        let places = self.lock();
        let row = |(place, fact): (&Place, &Arc<ModelFact>)| ModelFactsRow {
            project: project.to_owned(),
            base_url: place.base_url.clone(),
            dialect: place.dialect.clone(),
            model: place.model.clone(),
            model_replied: fact.replied(),
            learned: serde_json::to_string(&fact.capabilities.snapshot()).unwrap_or_default(),
            updated_us: fact.learned_us(now_us),
        };
        places.iter().filter(|(_, fact)| !fact.capabilities.snapshot().is_empty()).map(row).collect()
    }
}

impl Place {
    fn of(dialect: Dialect, base_url: &str, model: &str) -> Self {
        Self { base_url: base_url.to_owned(), dialect: dialect_name(dialect), model: model.to_owned() }
    }
}

impl ModelFact {
    /// Since when it holds, as far as is known.
    fn learned_us(&self, now_us: i64) -> i64 {
        let restored = self.restored.as_ref().filter(|(learned, _)| *learned == self.capabilities.snapshot());
        restored.map_or(now_us, |(_, learned_us)| *learned_us)
    }

    /// Another model under the same name is asked for everything again.
    pub(super) fn note_reply(&self, model: Option<&str>) {
        let Some(model) = model else { return };
        let mut replied = self.replied.lock().unwrap_or_else(PoisonError::into_inner);
        match replied.as_deref() {
            Some(known) if known == model => return,
            Some(_) => self.capabilities.forget(),
            None => {}
        }
        *replied = Some(model.to_owned());
    }

    pub(super) fn replied(&self) -> Option<String> {
        self.replied.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// As serde writes it.
fn dialect_name(dialect: Dialect) -> String {
    match serde_json::to_value(dialect) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(_) | Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

    fn refusing_logprobs() -> Learned {
        Learned { refused: vec![String::from("logprobs")], ..Learned::default() }
    }

    fn learned_of(facts: &ModelFacts) -> Learned {
        facts.of(Dialect::Vllm, "http://127.0.0.1:1/v1", "m").capabilities.snapshot()
    }

    fn facts() -> ModelFacts {
        let facts = ModelFacts::default();
        let fact = facts.of(Dialect::Vllm, "http://127.0.0.1:1/v1", "m");
        fact.capabilities.restore(&refusing_logprobs());
        fact.note_reply(Some("m-1"));
        facts
    }

    #[test]
    fn what_was_learned_survives_a_restart_for_a_week() {
        let rows = facts().rows("p", 0);
        assert_eq!(rows.len(), 1);
        assert_eq!(learned_of(&ModelFacts::restored(rows.clone(), 7 * DAY_US)), refusing_logprobs());
        assert_eq!(learned_of(&ModelFacts::restored(rows, 8 * DAY_US)), Learned::default());
    }

    #[test]
    fn keeping_it_again_makes_it_no_younger() {
        let again = ModelFacts::restored(facts().rows("p", 0), 5 * DAY_US).rows("p", 5 * DAY_US);
        assert_eq!(learned_of(&ModelFacts::restored(again, 8 * DAY_US)), Learned::default());
        let facts = ModelFacts::restored(facts().rows("p", 0), 5 * DAY_US);
        let more = Learned { refused: vec![String::from("seed")], ..Learned::default() };
        facts.of(Dialect::Vllm, "http://127.0.0.1:1/v1", "m").capabilities.restore(&more);
        assert_eq!(facts.rows("p", 5 * DAY_US)[0].updated_us, 5 * DAY_US, "something new was learned");
    }

    #[test]
    fn another_model_under_the_same_name_is_asked_for_everything_again() {
        let facts = facts();
        let fact = facts.of(Dialect::Vllm, "http://127.0.0.1:1/v1", "m");
        fact.note_reply(Some("m-1"));
        fact.note_reply(None);
        assert_eq!(learned_of(&facts), refusing_logprobs());
        fact.note_reply(Some("m-2"));
        assert_eq!(learned_of(&facts), Learned::default());
    }

    #[test]
    fn each_model_and_dialect_has_facts_of_its_own() {
        let facts = facts();
        for (dialect, address, model) in [
            (Dialect::OpenAi, "http://127.0.0.1:1/v1", "m"),
            (Dialect::Vllm, "http://127.0.0.1:2/v1", "m"),
            (Dialect::Vllm, "http://127.0.0.1:1/v1", "n"),
        ] {
            assert!(facts.of(dialect, address, model).capabilities.snapshot().is_empty());
        }
    }

    #[test]
    fn rows_of_another_version_are_passed_over() {
        let row = facts().rows("p", 0).remove(0);
        let odd = [
            ModelFactsRow { dialect: String::from("telepathy"), ..row.clone() },
            ModelFactsRow { learned: String::from("{\"mood\": 1}"), ..row },
        ];
        assert!(ModelFacts::restored(odd.to_vec(), 0).rows("p", 0).is_empty());
    }
}
