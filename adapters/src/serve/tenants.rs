//! The tenants in which a serving program traces: for each one client and one budget, which all who ask share.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use bot::trace::budget::Budget;
use bot::trace::graph::Client;

use crate::config::Config;

/// A tenant.
#[derive(Debug)]
pub struct Tenant {
    pub name: String,
    pub client: Client,
    /// Its own mail domains.
    pub domains: Vec<String>,
}

/// All of them, by their names in the config.
#[derive(Debug, Default)]
pub struct Tenants {
    all: BTreeMap<String, Arc<Tenant>>,
    /// By the directory and what it allows: entries that lead to one directory share what Microsoft counts together.
    budgets: BTreeMap<(String, u16, u64), Arc<Budget>>,
}

impl Tenants {
    /// Those of a config. Clients are made anew, since a secret may have been renewed; what `before` has used up stays used up.
    ///
    /// # Errors
    /// One sentence that says what to mend.
    pub fn new(config: &Config, before: &Self) -> Result<Self> {
        let mut tenants = Self::default();
        for tenant in &config.tenants {
            let allowed = (
                tenant.directory.to_lowercase(),
                tenant.requests,
                tenant.per_seconds,
            );
            let budget = [&tenants.budgets, &before.budgets]
                .into_iter()
                .find_map(|budgets| budgets.get(&allowed).cloned())
                .unwrap_or_else(|| tenant.budget());
            let client = tenant.client(config.loopback_only, Arc::clone(&budget));
            let client = client.map_err(|why| anyhow!("tenant `{}`: {why}", tenant.name))?;
            tenants.budgets.insert(allowed, budget);
            let traced = Tenant {
                name: tenant.name.clone(),
                client,
                domains: tenant.domains.clone(),
            };
            tenants.all.insert(tenant.name.clone(), Arc::new(traced));
        }
        Ok(tenants)
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<Tenant>> {
        self.all.get(name).cloned()
    }
}
