//! `search_tools`: the tools that fit some words, with what they take.

use std::collections::HashMap;

use forebay_proxy::upstream::{OfferedTool, State};
use serde_json::{Value, json};

use crate::{
    Finder, Servers, ToolError, arguments::Arguments, budget::Budget, error::refuse, json,
    reply::Reply,
};

/// More would be read by nobody.
const MOST: usize = 20;
/// How much of a description is compared by its meaning.
const DESCRIPTION_CHARS: usize = 500;
/// What is nearer to a query than this fits it, whatever its words are.
const NEAR: f64 = 0.35;

pub(crate) fn answer(
    arguments: &Arguments,
    budget: Budget,
    servers: &dyn Servers,
    finder: Option<&dyn Finder>,
) -> Result<Reply, ToolError> {
    let query = arguments.optional_text("query")?.unwrap_or_default();
    let server = arguments.optional_text("server")?;
    let standings = servers.standings();
    if let Some(server) = &server
        && !standings.iter().any(|it| it.name.as_str() == server)
    {
        let known: Vec<&str> = standings.iter().map(|it| it.name.as_str()).collect();
        return refuse!("There is no server {server}. The servers are: {}.", known.join(", "));
    }
    let is_wanted = |name: &str| server.as_deref().is_none_or(|server| server == name);
    let tools = servers.tools();
    let tools: Vec<&OfferedTool> =
        tools.iter().filter(|tool| is_wanted(tool.server.as_str())).collect();
    let unknown = standings.iter().filter(|it| it.tools.is_none() && is_wanted(it.name.as_str()));
    let unknown: Vec<String> = unknown
        .map(|it| match &it.last_error {
            Some(why) if it.state == State::Down => format!("{} ({why})", it.name),
            _ => format!("{} ({})", it.name, it.state.as_str()),
        })
        .collect();
    let reserve = 60 + 40 * unknown.len() as u64;
    let budget = budget.without(reserve.min(budget.tokens / 2));
    let mut members = if query.trim().is_empty() {
        overview(&tools, budget)
    } else {
        found(&ranked(&tools, &query, finder), budget)
    };
    if !unknown.is_empty() {
        members.push(json::member("not_searched", &json!(unknown).to_string()));
    }
    Ok(Reply::text(format!("{{{}}}", members.join(","))))
}

/// The names of all tools, by server.
fn overview(tools: &[&OfferedTool], budget: Budget) -> Vec<String> {
    let mut servers: Vec<(&str, Vec<&str>)> = Vec::new();
    for tool in tools {
        match servers.last_mut().filter(|(server, _)| *server == tool.server.as_str()) {
            Some((_, names)) => names.push(&tool.own),
            None => servers.push((tool.server.as_str(), vec![&tool.own])),
        }
    }
    let shown: Vec<String> = servers
        .iter()
        .map(|(server, names)| json::member(server, &json!(names).to_string()))
        .collect();
    let count = budget.fitting(shown.iter().map(String::as_str));
    let mut members = vec![json::member("servers", &format!("{{{}}}", shown[..count].join(",")))];
    if count < shown.len() {
        let left_out = servers[count..]
            .iter()
            .map(|(server, names)| format!("{server} ({} tools)", names.len()));
        let left_out: Vec<String> = left_out.collect();
        members.push(json::member("left_out", &json!(left_out).to_string()));
    }
    members
}

/// What fits, the best first, as much of it as there is room for.
fn found(ranked: &[&OfferedTool], budget: Budget) -> Vec<String> {
    let shown: Vec<String> = ranked.iter().take(MOST).map(|tool| described(tool, true)).collect();
    let mut count = budget.fitting(shown.iter().map(String::as_str));
    let mut shown = &shown[..count];
    let alone;
    if count == 0 && !ranked.is_empty() {
        // One whose schema is longer than all that may be said is at least named.
        alone = [described(ranked[0], false)];
        (shown, count) = (&alone, 1);
    }
    let mut members = vec![json::member("tools", &format!("[{}]", shown.join(",")))];
    if count < ranked.len() {
        members.push(json::member("more_that_fit", &(ranked.len() - count).to_string()));
    }
    members
}

/// A tool as a model needs it to be called.
fn described(tool: &OfferedTool, with_schema: bool) -> String {
    const SHORT: usize = 400;
    let definition: Value = serde_json::from_slice(&tool.definition).unwrap_or_default();
    let mut members = vec![("server", tool.server.as_str().into()), ("tool", (*tool.own).into())];
    let told = |key| definition.get(key).filter(|it| !it.is_null()).cloned();
    if with_schema {
        members.extend(
            ["description", "annotations"].map(|key| Some((key, told(key)?))).into_iter().flatten(),
        );
        members.extend(told("inputSchema").map(|schema| ("inputSchema", schema)));
    } else {
        let text = told("description");
        let text: String =
            text.iter().filter_map(Value::as_str).flat_map(str::chars).take(SHORT).collect();
        members.push(("description", text.into()));
        let tokens = forebay_records::tokens(&String::from_utf8_lossy(&tool.definition));
        let left_out = format!("left out; ask again with max_tokens: {}", tokens + 500);
        members.push(("inputSchema", left_out.into()));
    }
    json::object(members)
}

/// The tools that fit, the best first: by their words and, where that can be told at once, by their meaning.
fn ranked<'t>(
    tools: &[&'t OfferedTool],
    query: &str,
    finder: Option<&dyn Finder>,
) -> Vec<&'t OfferedTool> {
    let by_words = by_words(tools, query);
    let by_meaning = finder.and_then(|finder| by_meaning(tools, query, finder));
    let scores = match by_meaning {
        Some(by_meaning) => fused(&by_words, &by_meaning),
        None => by_words,
    };
    let fitting = scores.into_iter().zip(tools.iter().copied());
    let mut fitting: Vec<(f64, &OfferedTool)> = fitting.filter(|(score, _)| *score > 0.0).collect();
    fitting.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    fitting.into_iter().map(|(_, tool)| tool).collect()
}

/// How well each tool fits the words: words that few tools have count more, and those in a name more than
/// those in a description.
fn by_words(tools: &[&OfferedTool], query: &str) -> Vec<f64> {
    let texts: Vec<Text> = tools.iter().map(|tool| Text::of(tool)).collect();
    let wanted = words(query);
    let mut weights: HashMap<&str, f64> = HashMap::new();
    for word in &wanted {
        let having = texts.iter().filter(|text| text.weight(word) > 0.0).count();
        #[expect(clippy::cast_precision_loss, reason = "nobody has so many tools")]
        let rarity = (1.0 + texts.len() as f64 / having.max(1) as f64).ln();
        weights.insert(word, rarity);
    }
    let score = |text: &Text| {
        wanted.iter().map(|word| text.weight(word) * weights[word.as_str()]).sum::<f64>()
    };
    texts.iter().map(score).collect()
}

/// How near the description of each tool is to the query, from 0 to 1; `None` if that cannot be told at once.
fn by_meaning(tools: &[&OfferedTool], query: &str, finder: &dyn Finder) -> Option<Vec<f64>> {
    let text = |tool: &&OfferedTool| {
        let definition: Value = serde_json::from_slice(&tool.definition).unwrap_or_default();
        let description = definition["description"].as_str().unwrap_or_default();
        let beginning: String = description.chars().take(DESCRIPTION_CHARS).collect();
        format!("{} ({}): {beginning}", words(&tool.own).join(" "), tool.server)
    };
    let texts: Vec<String> = tools.iter().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let near = finder.rank(query, &texts).filter(|near| near.len() == tools.len())?;
    Some(near.into_iter().map(f64::from).collect())
}

/// Both scores as one, from 0 to 2. One that has none of the words must be near to fit at all.
fn fused(by_words: &[f64], by_meaning: &[f64]) -> Vec<f64> {
    let most = by_words.iter().copied().fold(0.0, f64::max);
    let one = |(words, meaning): (&f64, &f64)| {
        let words = if most > 0.0 { words / most } else { 0.0 };
        if words == 0.0 && *meaning < NEAR { 0.0 } else { words + meaning.max(0.0) }
    };
    by_words.iter().zip(by_meaning).map(one).collect()
}

/// The words of a tool, by where they stand.
struct Text {
    name: Vec<String>,
    server: Vec<String>,
    description: Vec<String>,
    parameters: Vec<String>,
}

impl Text {
    fn of(tool: &OfferedTool) -> Self {
        let definition: Value = serde_json::from_slice(&tool.definition).unwrap_or_default();
        let text = |key: &str| definition[key].as_str().unwrap_or_default().to_owned();
        let properties = definition["inputSchema"]["properties"].as_object();
        let parameters = properties.into_iter().flatten().flat_map(|(name, it)| {
            words(&format!("{name} {}", it["description"].as_str().unwrap_or_default()))
        });
        Self {
            name: words(&tool.own),
            server: words(tool.server.as_str()),
            description: words(&format!("{} {}", text("title"), text("description"))),
            parameters: parameters.collect(),
        }
    }

    /// How much a word says for it.
    fn weight(&self, word: &str) -> f64 {
        let has = |words: &[String]| words.iter().any(|it| it == word);
        let begins = |words: &[String]| words.iter().any(|it| is_beginning(word, it));
        let places = [
            (&self.name, 6.0, 3.0),
            (&self.server, 4.0, 1.0),
            (&self.description, 2.0, 1.0),
            (&self.parameters, 1.0, 0.0),
        ];
        places
            .iter()
            .map(|(words, whole, part)| {
                if has(words) {
                    *whole
                } else if begins(words) {
                    *part
                } else {
                    0.0
                }
            })
            .sum()
    }
}

/// True if one word is how the other begins: `read` and `reading`.
fn is_beginning(one: &str, other: &str) -> bool {
    const LEAST: usize = 3;
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    short.chars().count() >= LEAST && long.starts_with(short)
}

/// The words of a text, in small letters and without a plural's end: `listPull_requests` has `list`, `pull` and
/// `request`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in text.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = letter.is_lowercase() || letter.is_numeric();
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    for word in &mut words {
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
    }
    words.retain(|word| !word.is_empty() && !COMMON.contains(&word.as_str()));
    words
}

/// Words that say nothing about a tool.
const COMMON: [&str; 24] = [
    "a", "an", "and", "are", "as", "at", "by", "can", "for", "from", "i", "in", "is", "it", "me",
    "my", "of", "on", "or", "that", "the", "to", "want", "with",
];

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use forebay_proxy::{chain::Caller, router::UpstreamName, upstream::Standing};
    use forebay_search::{Found, Question, SearchError};
    use forebay_store::Viewer;

    use super::*;
    use crate::definitions::Tool;

    /// Some servers: one of them is down.
    pub(in super::super) struct Behind(Arc<[OfferedTool]>);

    impl Behind {
        pub(in super::super) fn some() -> Self {
            let tool = |server: &str, own: &str, description: &str| OfferedTool {
                name: format!("{server}__{own}"),
                server: UpstreamName::new(server),
                own: own.into(),
                definition: json!({
                    "name": format!("{server}__{own}"),
                    "description": description,
                    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
                    "outputSchema": {"type": "object"},
                })
                .to_string()
                .into_bytes(),
            };
            Self(Arc::new([
                tool("git", "log", "Shows the commit logs"),
                tool("git", "createBranch", "Creates a new branch"),
                tool("time", "get_current_time", "Get current time in a timezone"),
                tool("time", "convert_time", "Convert time between timezones"),
            ]))
        }
    }

    impl Servers for Behind {
        fn standings(&self) -> Arc<[Standing]> {
            let all = [("git", Some(2)), ("time", Some(2)), ("slow", None)];
            all.map(|(name, tools)| Standing {
                name: UpstreamName::new(name),
                state: if tools.is_some() { State::Open } else { State::Down },
                revision: None,
                tools,
                last_error: tools.is_none().then(|| "exited with code 1".to_owned()),
            })
            .into()
        }

        fn tools(&self) -> Arc<[OfferedTool]> {
            self.0.clone()
        }

        fn leading_to(&self, server: &UpstreamName, tool: &str) -> String {
            format!("{server}__{tool}")
        }

        fn learn(&self, _: &Caller) {}
    }

    fn asked(given: Value, tokens: u64) -> Value {
        let arguments = Arguments::new(Tool::Search, given).unwrap();
        let budget = Budget { tokens, bytes: None };
        let reply = answer(&arguments, budget, &Behind::some(), None).unwrap().into_json();
        let reply: Value = serde_json::from_slice(&reply).unwrap();
        serde_json::from_str(reply["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    fn names(told: &Value) -> Vec<String> {
        let tools = told["tools"].as_array().unwrap().iter();
        tools.map(|tool| format!("{}/{}", tool["server"], tool["tool"]).replace('"', "")).collect()
    }

    #[test]
    fn what_fits_is_found_with_its_schema_the_best_first() {
        let told = asked(json!({"query": "create branches"}), 4_000);
        assert_eq!(names(&told), ["git/createBranch"]);
        assert_eq!(told["tools"][0]["inputSchema"]["properties"]["path"]["type"], "string");
        assert!(
            told["tools"][0].get("outputSchema").is_none() && told.get("more_that_fit").is_none()
        );
        assert_eq!(told["not_searched"], json!(["slow (exited with code 1)"]));
        assert_eq!(
            names(&asked(json!({"query": "current time"}), 4_000))[0],
            "time/get_current_time"
        );
        assert_eq!(names(&asked(json!({"query": "commits"}), 4_000)), ["git/log"]);
        assert!(names(&asked(json!({"query": "zebra"}), 4_000)).is_empty());
        assert!(names(&asked(json!({"query": "branch", "server": "time"}), 4_000)).is_empty());
    }

    #[test]
    fn without_a_query_the_names_of_all_are_told() {
        let told = asked(json!({"query": ""}), 4_000);
        assert_eq!(told["servers"]["git"], json!(["log", "createBranch"]));
    }

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let told = asked(json!({"query": "time"}), 120);
        assert_eq!((names(&told).len(), &told["more_that_fit"]), (1, &json!(1)));
        let told = asked(json!({"query": "log"}), 50);
        let schema = told["tools"][0]["inputSchema"].as_str().unwrap();
        assert!(schema.starts_with("left out; ask again with max_tokens: "), "{schema}");
        let told = asked(json!({"query": ""}), 20);
        assert!(told["left_out"][0].as_str().unwrap().ends_with("(2 tools)"), "{told}");
    }

    #[test]
    fn a_server_that_is_not_there_is_told_with_those_that_are() {
        let arguments =
            Arguments::new(Tool::Search, json!({"query": "x", "server": "gti"})).unwrap();
        let error = answer(&arguments, Budget::NONE, &Behind::some(), None).unwrap_err();
        assert!(error.told().contains("The servers are: git, time, slow."), "{}", error.told());
    }

    /// Knows how near some texts are.
    struct Near(&'static [(&'static str, f32)]);

    impl Finder for Near {
        fn find(&self, _: &Question, _: &Viewer) -> Result<Found, SearchError> {
            Ok(Found::default())
        }

        fn rank(&self, _: &str, texts: &[&str]) -> Option<Vec<f32>> {
            let near = |text: &&str| self.0.iter().find(|(part, _)| text.contains(part));
            let all = texts.iter().map(|text| near(text).map_or(0.1, |(_, near)| *near));
            (!self.0.is_empty()).then(|| all.collect())
        }
    }

    #[test]
    fn meaning_adds_what_words_do_not_find_and_without_it_their_order_stays() {
        let behind = Behind::some();
        let tools: Vec<&OfferedTool> = behind.0.iter().collect();
        let names = |query: &str, finder: Option<&dyn Finder>| {
            let ranked = ranked(&tools, query, finder);
            ranked.into_iter().map(|tool| tool.own.to_string()).collect::<Vec<_>>()
        };
        let by_words = names("current time", None);
        assert_eq!(by_words, ["get_current_time", "convert_time"]);
        assert_eq!(names("current time", Some(&Near(&[]))), by_words, "no vectors yet");
        let near: &dyn Finder = &Near(&[("commit logs", 0.6), ("new branch", 0.3)]);
        assert_eq!(names("history of changes", None), Vec::<String>::new());
        assert_eq!(names("history of changes", Some(near)), ["log"], "one that is near enough");
        assert_eq!(names("create a branch", Some(near)), ["createBranch", "log"]);
    }

    #[test]
    fn words_are_told_apart() {
        assert_eq!(words("listPull_requests of ABC2d"), ["list", "pull", "request", "abc2d"]);
    }
}
