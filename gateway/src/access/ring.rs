//! The keys that are known now: kept in memory, looked up where they are not, and looked at anew every few seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;

use super::key::{AccessKey, Allowance};
use super::secret::Secret;
use super::stored::UnreadableKey;
use crate::clock::Clock;
use crate::engine::{Budget, KeyPurse, Purse};
use crate::store::{Store, StoreError};

/// How long a key that was made, revoked or spent from elsewhere may be seen as it was.
pub const LOOKED_AT_EVERY: Duration = Duration::from_secs(5);

/// All keys of the store.
#[derive(Debug)]
pub struct KeyRing {
    store: Arc<dyn Store>,
    clock: Clock,
    known: ArcSwap<HashMap<String, Arc<AccessKey>>>,
    budgets: Mutex<HashMap<String, WindowBudget>>,
}

/// What is left of a key's allowance, for one window.
#[derive(Debug)]
struct WindowBudget {
    allowance: Allowance,
    first_day: i64,
    budget: Arc<Budget>,
}

/// Why nobody is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "this gateway needs a key; hint: send `authorization: Bearer KEY` or `x-api-key: KEY`; `tribunal keys create` makes one"
    )]
    NoKey,
    #[error("this is no key of this gateway; hint: `tribunal keys list` shows those that are")]
    UnknownKey,
    #[error("this key has expired; hint: `tribunal keys create` makes a new one")]
    Expired,
    #[error("this key was revoked; hint: `tribunal keys create` makes a new one")]
    Revoked,
}

/// Why a key could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Unreadable(#[from] UnreadableKey),
}

impl KeyRing {
    /// With every key of the store.
    pub async fn open(store: Arc<dyn Store>, clock: Clock) -> Result<Self, KeyError> {
        let ring = Self { store, clock, known: ArcSwap::default(), budgets: Mutex::default() };
        ring.look().await?;
        Ok(ring)
    }

    /// Keeps a new key, which opens what it opens from now on.
    pub async fn add(&self, key: &AccessKey) -> Result<(), KeyError> {
        self.store.add_access_key(&key.to_row()).await?;
        self.look().await
    }

    /// From now on the key opens nothing here, and elsewhere within seconds. False: there is no such key, or it was
    /// revoked before.
    pub async fn revoke(&self, id: &str) -> Result<bool, KeyError> {
        let is_revoked = self.store.revoke_access_key(id, self.clock.now_us()).await?;
        self.look().await?;
        Ok(is_revoked)
    }

    /// Whether a key was ever made: from then on nobody is let in without one, also when all were revoked.
    pub fn is_locked(&self) -> bool {
        !self.known.load().is_empty()
    }

    /// Looks at all keys and budgets anew.
    pub async fn look(&self) -> Result<(), KeyError> {
        let keys = self.store.access_keys().await?.into_iter().map(AccessKey::of_row);
        let keys = keys.map(|key| key.map(|key| (key.id.clone(), Arc::new(key))));
        let keys: HashMap<String, Arc<AccessKey>> = keys.collect::<Result<_, _>>()?;
        self.known.store(Arc::new(keys));
        let counted: Vec<(String, i64, Arc<Budget>)> = self
            .budgets()
            .iter()
            .map(|(id, window)| (id.clone(), window.first_day, Arc::clone(&window.budget)))
            .collect();
        for (id, first_day, budget) in counted {
            if let Some(key) = self.key(&id) {
                budget.note_spent(self.spent_microusd(&key, first_day).await?);
            }
        }
        Ok(())
    }

    /// Whose key this text is; `None`: no key was ever made, so whatever is sent opens what is open anyway.
    pub async fn admit(&self, presented: Option<&str>) -> Result<Option<Arc<AccessKey>>, KeyError> {
        if !self.is_locked() {
            return Ok(None);
        }
        let secret = Secret::parse(presented.ok_or(Refusal::NoKey)?).map_err(|_| Refusal::UnknownKey)?;
        let key = match self.key(secret.id()) {
            Some(key) => Some(key),
            // It may have been made a moment ago.
            None => match self.store.access_key(secret.id()).await? {
                Some(row) => Some(Arc::new(AccessKey::of_row(row)?)),
                None => None,
            },
        };
        let key = key.filter(|key| key.hash == secret.hash()).ok_or(Refusal::UnknownKey)?;
        self.check(&key)?;
        Ok(Some(key))
    }

    /// The key of a run that was begun with it, as long as it is in force.
    pub async fn of_run(&self, id: &str) -> Result<AccessKey, KeyError> {
        let row = self.store.access_key(id).await?.ok_or(Refusal::UnknownKey)?;
        let key = AccessKey::of_row(row)?;
        self.check(&key)?;
        Ok(key)
    }

    /// Where the money for calls with this key comes from.
    pub async fn purse(&self, key: &AccessKey) -> Result<Purse, KeyError> {
        let budget = self.budget(key).await?;
        Ok(Purse { cap: None, key: Some(KeyPurse { id: Arc::from(key.id.as_str()), budget }) })
    }

    fn key(&self, id: &str) -> Option<Arc<AccessKey>> {
        self.known.load().get(id).cloned()
    }

    fn check(&self, key: &AccessKey) -> Result<(), Refusal> {
        if key.revoked_us.is_some() {
            return Err(Refusal::Revoked);
        }
        if !key.is_in_force(self.clock.now_us()) {
            return Err(Refusal::Expired);
        }
        Ok(())
    }

    /// The budget of the window that is now, shared by all calls with the key.
    async fn budget(&self, key: &AccessKey) -> Result<Option<Arc<Budget>>, KeyError> {
        let Some(allowance) = key.allowance else { return Ok(None) };
        let first_day = allowance.window.first_day(self.clock.now_us());
        let known = |budgets: &HashMap<String, WindowBudget>| {
            let window = budgets.get(&key.id)?;
            let is_current = window.first_day == first_day && window.allowance == allowance;
            is_current.then(|| Arc::clone(&window.budget))
        };
        if let Some(budget) = known(&self.budgets()) {
            return Ok(Some(budget));
        }
        let spent_microusd = self.spent_microusd(key, first_day).await?;
        let mut budgets = self.budgets();
        // Somebody else may have been here meanwhile.
        if let Some(budget) = known(&budgets) {
            return Ok(Some(budget));
        }
        let budget = Arc::new(Budget::of_key(allowance.microusd, spent_microusd));
        let window = WindowBudget { allowance, first_day, budget: Arc::clone(&budget) };
        budgets.insert(key.id.clone(), window);
        Ok(Some(budget))
    }

    async fn spent_microusd(&self, key: &AccessKey, first_day: i64) -> Result<u64, StoreError> {
        let spent = self.store.key_spending(&key.project, &key.id, first_day).await?;
        Ok(u64::try_from(spent.microusd).unwrap_or(0))
    }

    fn budgets(&self) -> std::sync::MutexGuard<'_, HashMap<String, WindowBudget>> {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
