//! Tools on demand: where the definitions of all tools would be a flood, two tools stand for all of them. One
//! [`search`]es, the other [`call`]s what was found.

pub(crate) mod call;
pub(crate) mod search;

use std::sync::Arc;

use forebay_intercept::Tokenizer;
use forebay_proxy::upstream::State;
use serde_json::Value;

use crate::{Servers, arguments::counted, definitions::Tool};

/// Which tools of many servers are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exposure {
    /// All.
    #[default]
    All,
    /// None: they are searched.
    Search,
    /// All, unless their definitions have more tokens than this.
    Past(u64),
}

/// The tools that stand for all others.
pub(crate) const STANDING_FOR_ALL: [Tool; 2] = [Tool::Search, Tool::Call];

impl Exposure {
    /// True if what a server has can be called without being listed.
    pub(crate) fn is_on_demand(self) -> bool {
        self != Self::All
    }

    /// True if a list of tools is not shown.
    pub(crate) fn hides(self, list: &[u8], tokenizer: Tokenizer) -> bool {
        match self {
            Self::All => false,
            Self::Search => true,
            Self::Past(limit) => {
                // No text has more tokens than bytes.
                list.len() as u64 > limit
                    && tokenizer.up_to(limit, &String::from_utf8_lossy(list)).is_none()
            }
        }
    }
}

/// The definition of a tool that stands for others, in which it is said which servers there are.
pub(crate) fn definition(definition: &str, servers: &Arc<dyn Servers>) -> String {
    /// A list of servers must not be a flood, either.
    const MOST: usize = 40;
    let standings = servers.standings();
    let mut told: Vec<String> = standings
        .iter()
        .take(MOST)
        .map(|it| match it.tools {
            Some(tools) => format!("{} ({})", it.name, counted(tools, "tool")),
            None if it.state == State::Down => format!("{} (down)", it.name),
            None => it.name.to_string(),
        })
        .collect();
    if standings.len() > MOST {
        told.push(format!("and {} more, which list_servers shows", standings.len() - MOST));
    }
    let told = if told.is_empty() { "none".to_owned() } else { told.join(", ") };
    let told = Value::from(told).to_string();
    definition.replace("SERVERS", told.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_hidden_past_its_budget_only() {
        let list = br#"{"tools":[{"name":"a","description":"one two three four five"}]}"#;
        let exact = forebay_records::tokens(&String::from_utf8_lossy(list));
        for (exposure, is_hidden) in [
            (Exposure::All, false),
            (Exposure::Search, true),
            (Exposure::Past(exact), false),
            (Exposure::Past(exact - 1), true),
            (Exposure::Past(100_000), false),
        ] {
            assert_eq!(exposure.hides(list, Tokenizer::O200k), is_hidden, "{exposure:?}");
        }
    }
}
