//! What a program can reach: tools of servers, what was kept, and help.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    io::Read as _,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use forebay_intercept::{Named, Policy};
use forebay_proxy::{
    chain::{Caller, with_causes},
    upstream::OfferedTool,
};
use forebay_query::{FileForm, Query};
use forebay_sandbox::{Answer, Host, HostCall};
use forebay_store::DatasetId;
use forebay_wire::{syntax, walk};
use parking_lot::Mutex;
use serde_json::{Value, json, value::RawValue};

use super::{Destructive, definition, help, value};
use crate::{
    Budget, Desk, ToolError,
    arguments::Arguments,
    asked::named_in,
    catalogue::Catalogue,
    definitions::Tool,
    desk::SERVER,
    error::refuse,
    export,
    read::{self, Reading},
    waiting::Waiting,
};

/// How many tools are told whose results a program had.
const MAX_SHAPES: usize = 3;

/// The host of one program.
#[derive(Clone)]
pub(super) struct Reach(Arc<Inner>);

struct Inner {
    catalogue: Arc<Catalogue>,
    desk: Desk,
    policy: Policy,
    caller: Caller,
    destructive: Destructive,
    max_result_bytes: u64,
    /// How often the client has been told how far the program is.
    told: AtomicU64,
    /// What results looked like, by what was called.
    shapes: Mutex<BTreeMap<String, String>>,
    /// The tools that the program may call, by the names that it has for them: most call the same few in a loop.
    found: Mutex<HashMap<(String, String), Arc<Found>>>,
    /// The first tool that has answered and whose results are never kept.
    secretive: OnceLock<Arc<Found>>,
    /// The datasets that the program has read, each once.
    asked: Mutex<Vec<DatasetId>>,
}

/// A tool that a program may call.
struct Found {
    /// The name that the client would use.
    name: String,
    /// What it is called in what is told.
    called: String,
    /// Whether its results may be kept.
    may_be_kept: bool,
}

impl Reach {
    pub(super) fn new(
        catalogue: Arc<Catalogue>,
        desk: Desk,
        policy: Policy,
        caller: Caller,
        destructive: Destructive,
        max_result_bytes: u64,
    ) -> Self {
        let (told, shapes, found) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        let (secretive, asked) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(Inner {
            catalogue,
            desk,
            policy,
            caller,
            destructive,
            max_result_bytes,
            told,
            shapes,
            found,
            secretive,
            asked,
        }))
    }

    /// What the results of calls looked like, for a program that took them for something else.
    pub(super) fn shapes(&self) -> Option<String> {
        let shapes = self.0.shapes.lock();
        let mut text = String::new();
        for (called, shape) in shapes.iter().take(MAX_SHAPES) {
            let _ =
                write!(text, "{}{called} gave {shape}", if text.is_empty() { "" } else { "; " });
        }
        (!text.is_empty()).then(|| format!("{text}."))
    }

    /// A tool whose results are never kept and that the program has heard from: nor may anything be kept that
    /// the program makes of it.
    pub(super) fn secretive(&self) -> Option<&str> {
        self.0.secretive.get().map(|tool| tool.called.as_str())
    }

    /// The datasets that the program has read.
    pub(super) fn asked(&self) -> Vec<DatasetId> {
        self.0.asked.lock().clone()
    }

    fn call_tool(&self, arguments: &[Box<RawValue>], answer: Answer) {
        let (server, tool, given) = match names(arguments) {
            Ok(names) => names,
            Err(error) => return answer.refuse(&error.told()),
        };
        let found = match self.0.found(server, tool) {
            Ok(found) => found,
            Err(error) => return answer.refuse(&error.told()),
        };
        let (reach, progressing) = (self.clone(), found.clone());
        let on_progress = move |done: f64, total: Option<f64>, message: &str| {
            let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
            reach.0.tell(|| format!("{}: {done}{of} {message}", progressing.called));
        };
        let (reach, tool) = (self.clone(), found.clone());
        self.0.caller.call_tool(&found.name, given.as_bytes(), on_progress, move |outcome| {
            // Before the program has it: what it does next may be to save it.
            if !tool.may_be_kept {
                let _ = reach.0.secretive.set(tool.clone());
            }
            let value = match outcome {
                Ok(result) => value::of(&result, reach.0.max_result_bytes),
                Err(failure) => Err(failure.to_string()),
            };
            match value {
                Ok(json) => {
                    reach.0.note_shape(&tool.called, &json);
                    reach.0.tell(|| format!("{} is done", tool.called));
                    answer.give(&json);
                }
                Err(why) => answer.refuse(&why),
            }
        });
    }
}

impl Host for Reach {
    fn call(&self, called: HostCall, answer: Answer) {
        let arguments: Vec<Box<RawValue>> = match serde_json::from_str(&called.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return answer.refuse(&format!("the arguments cannot be read: {error}")),
        };
        if called.function == "callMCPTool" {
            return self.call_tool(&arguments, answer);
        }
        // The rest may take a while.
        let reach = self.clone();
        let work = move || match reach.0.answer(&called.function, &arguments) {
            Ok(json) => answer.give(&json),
            Err(error) => answer.refuse(&error.told()),
        };
        // Without a thread the promise is refused: the answer is dropped.
        let _ = thread::Builder::new().name("program".to_owned()).spawn(work);
    }

    fn is_cancelled(&self) -> bool {
        self.0.caller.is_cancelled()
    }
}

impl Inner {
    /// The tool that is meant by these names, if programs may call it.
    fn found(&self, server: String, tool: String) -> Result<Arc<Found>, ToolError> {
        let key = (server, tool);
        // Not in the `if`, which would keep it locked.
        let known = self.found.lock().get(&key).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let OfferedTool { name, server, own, .. } = self.tool(&key.0, &key.1)?;
        let may_be_kept = self.policy.may_keep(server.as_str(), &own);
        let found = Arc::new(Found { name, called: format!("{server}.{own}"), may_be_kept });
        self.found.lock().insert(key, found.clone());
        Ok(found)
    }

    fn tool(&self, server: &str, tool: &str) -> Result<OfferedTool, ToolError> {
        let found = self.catalogue.tool(server, tool, &self.caller)?;
        let is_refused = self.destructive == Destructive::Refused;
        if is_refused && definition::is_destructive(&found.definition) {
            return refuse!(
                "{server} marks {} as destructive, and programs may not call such tools here: call \
                 it by itself as {}, or set code.destructive_tools = true.",
                found.own,
                found.name
            );
        }
        Ok(found)
    }

    fn answer(&self, function: &str, arguments: &[Box<RawValue>]) -> Result<Vec<u8>, ToolError> {
        let text =
            |at: usize| -> Option<String> { serde_json::from_str(arguments.get(at)?.get()).ok() };
        match function {
            "help" => {
                let told = help::text(text(0).as_deref(), &self.catalogue, &self.caller)?;
                Ok(Value::from(told).to_string().into_bytes())
            }
            "datasets.query" => match text(0) {
                Some(sql) => self.query(sql),
                None => refuse!("datasets.query takes SQL as a text."),
            },
            "datasets.read" => match text(0) {
                Some(name) => self.read(&name, arguments.get(1).map(|it| it.get())),
                None => {
                    refuse!("datasets.read takes the id of a dataset, such as dataset_k3v9x2ma.")
                }
            },
            "datasets.save" => match (text(0), arguments.get(1)) {
                (Some(name), Some(value)) => self.save(&name, value.get()),
                _ => refuse!("datasets.save takes a name and a value."),
            },
            other => refuse!("there is no function {other}"),
        }
    }

    /// Notes that the program has read datasets.
    fn note_asked(&self, datasets: impl IntoIterator<Item = DatasetId>) {
        let mut asked = self.asked.lock();
        for dataset in datasets {
            if !asked.contains(&dataset) {
                asked.push(dataset);
            }
        }
    }

    /// All rows of a query.
    fn query(&self, sql: String) -> Result<Vec<u8>, ToolError> {
        let query = Query { sql, ..Query::default() };
        let max_rows = self.desk.service().limits().max_rows;
        let waiting = Waiting(&self.caller);
        let (written, mut file, _) =
            export::rows(&self.desk, &query, FileForm::Json, max_rows, &waiting)?;
        let meant = written.sources.iter().map(|source| source.dataset.clone());
        self.note_asked(named_in(&query.sql).into_iter().chain(meant));
        if written.has_more {
            return refuse!(
                "The query gives more than {max_rows} rows, the most that query.max_rows allows: \
                 aggregate, or add LIMIT."
            );
        }
        let bytes = file.metadata()?.len();
        if bytes > self.max_result_bytes {
            return refuse!(
                "The query gives {bytes} bytes, more than the {} that code.memory_bytes leaves for \
                 one result: aggregate, or select less.",
                self.max_result_bytes
            );
        }
        let mut json = Vec::new();
        file.read_to_end(&mut json)?;
        if json.trim_ascii().is_empty() {
            // Without rows there is nothing in the file.
            return Ok(b"[]".to_vec());
        }
        match syntax::check(&json) {
            Ok(()) => Ok(json),
            Err(_) => refuse!(
                "The query gives NaN or Infinity, which JSON does not have: write \
                 CASE WHEN isfinite(x) THEN x END, or nullif(y, 0) where it divides."
            ),
        }
    }

    /// All of a dataset, or a page of it.
    fn read(&self, name: &str, options: Option<&str>) -> Result<Vec<u8>, ToolError> {
        let (id, table) = self.desk.named(name)?;
        let json = self.read_table(&id, &table, options)?;
        self.note_asked([id]);
        Ok(json)
    }

    /// All of a dataset's table, or a page of it.
    fn read_table(
        &self,
        id: &DatasetId,
        table: &str,
        options: Option<&str>,
    ) -> Result<Vec<u8>, ToolError> {
        let options: Value = serde_json::from_str(options.unwrap_or("null")).unwrap_or_default();
        if let Value::Object(mut given) = options {
            let table = if table.is_empty() { id.to_string() } else { format!("{id}_{table}") };
            given.insert("dataset_id".to_owned(), table.into());
            let arguments = Arguments::new(Tool::Read, Value::Object(given))?;
            let request = read::request(&arguments)?;
            let Reading { json, .. } =
                read::read(&self.desk, &request, Budget::NONE, &Waiting(&self.caller))?;
            return Ok(json.into_bytes());
        }
        if !table.is_empty() || forebay_query::is_result(&self.desk.dataset(id)?) {
            let table = if table.is_empty() { id.to_string() } else { format!("{id}_{table}") };
            return self.query(format!("FROM {table}"));
        }
        let dataset = self.desk.dataset(id)?;
        let bytes = dataset.metadata().bytes();
        if bytes > self.max_result_bytes {
            return refuse!(
                "{id} has {bytes} bytes, more than the {} that code.memory_bytes leaves for one \
                 result: read it by pages with {{ offset, limit }}, or query it.",
                self.max_result_bytes
            );
        }
        let mut whole = Vec::new();
        forebay_intercept::restore(&dataset, &mut whole)
            .map_err(|error| ToolError::NotFound(format!("{id} cannot be read: {error}.")))?;
        let restored = forebay_proxy::body::Payload::from(whole);
        value::of(&restored, u64::MAX).map_err(ToolError::Refused)
    }

    fn save(&self, name: &str, value: &str) -> Result<Vec<u8>, ToolError> {
        if let Some(tool) = self.secretive.get() {
            return refuse!(
                "Nothing can be saved in a program that has called {}, whose results are never kept \
                 (excluded_tools): save what has nothing to do with it in a program of its own.",
                tool.called
            );
        }
        let is_fit = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_fit) {
            return refuse!(
                "A dataset's name has 1 to 64 letters, digits, _ and -, such as open_orders."
            );
        }
        match value {
            "[]" => {
                return refuse!(
                    "An empty list has no fields, so that no query could ask for them: save it when \
                     there is something in it."
                );
            }
            "null" => return refuse!("There is nothing to save: the value is null."),
            _ => {}
        }
        let named = Named { name, server: SERVER };
        let (store, viewer) = (self.desk.store()?, self.desk.viewer());
        let saved = forebay_intercept::save(value.as_bytes(), named, &store, &self.policy, viewer);
        let saved = saved.map_err(|error| {
            ToolError::Refused(format!("{name} cannot be saved: {}.", with_causes(&error)))
        })?;
        let records = saved.metadata().description.record_count;
        let mut told = json!({"id": saved.id().to_string()});
        if let Some(records) = records {
            told["records"] = records.into();
        }
        Ok(told.to_string().into_bytes())
    }

    /// Tells the client how far the program is, if it wants to know.
    fn tell(&self, message: impl FnOnce() -> String) {
        if self.caller.told().is_none() {
            return;
        }
        let told = self.told.fetch_add(1, Ordering::Relaxed) + 1;
        #[expect(clippy::cast_precision_loss, reason = "nobody makes so many calls")]
        self.caller.progress(told as f64, None, &message());
    }

    /// Notes what a result looks like.
    fn note_shape(&self, called: &str, json: &[u8]) {
        let mut shapes = self.shapes.lock();
        if shapes.len() < MAX_SHAPES && !shapes.contains_key(called) {
            shapes.insert(called.to_owned(), shape(json));
        }
    }
}

/// What a value is, in a few words.
fn shape(json: &[u8]) -> String {
    const MOST: usize = 8;
    match json.trim_ascii_start().first() {
        Some(b'{') => {
            let keys = walk::members(json).into_iter().flatten();
            let mut keys: Vec<String> = keys
                .take(MOST + 1)
                .map(|(key, _)| String::from_utf8_lossy(key).into_owned())
                .collect();
            if keys.len() > MOST {
                "…".clone_into(&mut keys[MOST]);
            }
            format!("an object with {}", keys.join(", "))
        }
        Some(b'[') => {
            let count = walk::elements(json).map_or(0, Iterator::count);
            format!("a list of {count}")
        }
        Some(b'"') => "a text".to_owned(),
        _ => String::from_utf8_lossy(&json[..json.len().min(20)]).into_owned(),
    }
}

/// The server, the tool and its arguments.
fn names(arguments: &[Box<RawValue>]) -> Result<(String, String, String), ToolError> {
    const FORM: &str = "write callMCPTool(\"server\", \"tool\", { … })";
    let text =
        |at: usize| -> Option<String> { serde_json::from_str(arguments.get(at)?.get()).ok() };
    let (Some(server), Some(tool)) = (text(0), text(1)) else {
        return refuse!("callMCPTool needs the names of a server and a tool: {FORM}.");
    };
    let given = arguments.get(2).map_or("{}", |given| given.get());
    match given.as_bytes().first() {
        Some(b'{') => Ok((server, tool, given.to_owned())),
        _ if given == "null" => Ok((server, tool, "{}".to_owned())),
        _ => refuse!("The arguments of {server}.{tool} must be an object: {FORM}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_told_in_a_few_words() {
        let cases = [
            (r#"{"a":1,"b":[]}"#, "an object with a, b"),
            ("[1,2]", "a list of 2"),
            (r#""text""#, "a text"),
            ("null", "null"),
        ];
        for (json, expected) in cases {
            assert_eq!(shape(json.as_bytes()), expected);
        }
        let many: Vec<String> = (0..20).map(|n| format!("\"k{n}\":0")).collect();
        let many = format!("{{{}}}", many.join(","));
        assert!(shape(many.as_bytes()).ends_with("k7, …"), "{}", shape(many.as_bytes()));
    }

    #[test]
    fn arguments_are_an_object_or_nothing() {
        let read = |json: &str| {
            let given: Vec<Box<RawValue>> = serde_json::from_str(json).unwrap();
            names(&given).map_err(|error| error.told())
        };
        assert_eq!(read(r#"["a","b"]"#).unwrap().2, "{}");
        assert_eq!(read(r#"["a","b",null]"#).unwrap().2, "{}");
        assert_eq!(read(r#"["a","b",{"n":1.0}]"#).unwrap().2, r#"{"n":1.0}"#);
        assert!(read(r#"["a","b",[1]]"#).unwrap_err().contains("must be an object"));
        assert!(read(r#"["a"]"#).unwrap_err().contains("write callMCPTool("));
    }
}
