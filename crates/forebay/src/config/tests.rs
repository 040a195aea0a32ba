//! Files, variables and flags in; settings or problems out.

use std::path::Path;

use forebay_intercept::{Glob, OnStoreFailure, OutputSchema, Tokenizer, ToolRule, When};
use forebay_proxy::router::Prefix;
use forebay_tools::{Formulas, Tool};

use super::{
    settings::{SETTINGS, Setting},
    *,
};

fn of_file(text: &str) -> Result<Config, Problems> {
    let (mut config, mut problems) = (Config::kept_in("/home".into()), Vec::new());
    let target = file::Target { config: &mut config, problems: &mut problems, variables: &[] };
    file::read(Path::new("forebay.toml"), text, target);
    if problems.is_empty() { Ok(config) } else { Err(Problems(problems)) }
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let nowhere = [("FOREBAY_HOME", "/dev/null/home")];
    nowhere.iter().chain(pairs).map(|(name, value)| (name.into(), value.into())).collect()
}

fn load(variables: Vec<(OsString, OsString)>) -> Result<(Config, Vec<Problem>), Problems> {
    Config::load(&Sources { variables, ..Sources::default() })
}

#[test]
fn nothing_needs_to_be_set() {
    let (config, warnings) = load(variables(&[])).unwrap();
    assert_eq!(config, Config::kept_in("/dev/null/home".into()));
    assert!(config.enabled && warnings.is_empty());
    assert_eq!(of_file("# nothing\n").unwrap(), Config::kept_in("/home".into()));
}

#[test]
fn the_home_follows_the_rule_of_all_paths() {
    let with_home = |home: &str| load(vec![("FOREBAY_HOME".into(), home.into())]);
    let (config, _) = with_home("~/no/such/place").unwrap();
    assert_eq!(config.persist_location, std::env::home_dir().unwrap().join("no/such/place"));
    for relative in ["some/where", "~other/x", "."] {
        let said = with_home(relative).unwrap_err().to_string();
        let expected = format!(
            "the settings cannot be used:\n  FOREBAY_HOME: cannot be `{relative}`; write a path that \
             begins with `/` or `~/`"
        );
        assert_eq!(said, expected);
    }
}

#[test]
fn a_mistake_in_a_setting_that_says_how_much_is_told_and_passed_over() {
    let home = tempfile::tempdir().unwrap();
    let text = "treshold = 5\nreply_tokens = \"many\"\nqueri = 1\nsample_size = 3\nkeep_arguments = false\n[query]\nthreds = 2\ntime_limit = 7\n[gateway]\nseparator = \"/\"\n";
    std::fs::write(home.path().join("forebay.toml"), text).unwrap();
    let mut variables = variables(&[("FOREBAY_SUMMARY_TOKENS", "few")]);
    variables[0].1 = home.path().into();
    let (config, warnings) = load(variables).unwrap();
    let sound = Config { persist_location: home.path().into(), ..Config::kept_in("/home".into()) };
    assert_eq!(config.policy.threshold, None);
    assert_eq!(config.offer.reply_tokens, sound.offer.reply_tokens);
    assert_eq!(config.policy.summary_tokens, sound.policy.summary_tokens);
    assert_eq!(config.query.time, Duration::from_secs(7), "what is sound holds");
    assert!(!config.policy.keep_arguments, "what is sound holds");
    let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let told = [
        "`treshold`",
        "`reply_tokens`",
        "`queri`",
        "`sample_size`",
        "`query.threds`",
        "`gateway.separator` cannot be \"/\"; write 1 to 4 characters out of _ - and ., such as \"__\"",
        "few",
    ];
    assert_eq!(config.gateway, Gateway::default());
    assert_eq!(said.len(), told.len(), "{said:?}");
    for (said, told) in said.iter().zip(told) {
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn a_mistake_about_what_is_kept_or_seen_is_never_passed_over() {
    let grave = [
        "enabeld = false",
        "enabled = \"no\"",
        "excluded_tool = [\"secrets\"]",
        "exclude = [\"secrets\"]",
        "keep_argument = false",
        "persist_locaton = \"/x\"",
        "cleanup_after_days = \"one\"",
        "max_store_bytes = \"little\"",
        "injected_tools = \"non\"",
        "on_store_failure = \"err\"",
        "wait_for_disk = 1",
        "ca_file = \"relative.pem\"",
        "colour = 1",
        "threshold = = 1",
        "[tolls.a]\nnever = true",
        "[tools.a]\nnevr = true",
        "[tools.a]\nthreshold = \"x\"",
        "[servers.a]\ncomand = \"x\"",
        "[servers.a]\ncommand = \"x\"\ntimeout = 0",
        "[server.a]\ncommand = \"x\"",
        "servers = 1",
        "[gateway]\nprefix = \"never\"",
    ];
    for text in grave {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("forebay.toml"), text).unwrap();
        let mut variables = variables(&[]);
        variables[0].1 = home.path().into();
        assert!(load(variables).is_err(), "{text}");
    }
    for (name, value) in
        [("FOREBAY_ENABELD", "0"), ("FOREBAY_ENABLED", "off"), ("FOREBAY_HOM", "/x")]
    {
        assert!(load(variables(&[(name, value)])).is_err(), "{name}");
    }
}

#[test]
fn every_setting_that_is_forgiving_is_there() {
    let forgiving = SETTINGS.iter().filter(|it| it.weight() == problem::Weight::PassedOver);
    assert_eq!(forgiving.count(), settings::FORGIVING.len());
}

#[test]
fn the_table_states_the_defaults_that_hold() {
    for setting in SETTINGS {
        let key = setting.key.split('.').next_back().unwrap();
        let table = setting.key.split_once('.').map(|(table, _)| format!("[{table}]\n"));
        let text = format!("{}{key} = {}", table.unwrap_or_default(), setting.default);
        let mut config = of_file(&text).unwrap();
        match setting.key {
            // These two have defaults that depend on something else.
            "threshold" => {
                let default = Some(forebay_intercept::DEFAULT_THRESHOLD);
                assert_eq!(std::mem::take(&mut config.policy.threshold), default);
            }
            "max_store_bytes" => {
                assert_eq!(config.max_store_bytes.take(), Some(20_000_000_000));
            }
            "persist_location" => config.persist_location = "/home".into(),
            _ => {}
        }
        assert_eq!(config, Config::kept_in("/home".into()), "{}", setting.key);
    }
}

#[test]
fn the_example_uses_every_setting() {
    let config = of_file(reference::EXAMPLE).unwrap();
    for setting in SETTINGS {
        let key = setting.key.split('.').next_back().unwrap();
        let is_set = |line: &str| line.starts_with(&format!("{key} = "));
        assert!(reference::EXAMPLE.lines().any(is_set), "{key}");
    }
    let keys = servers::keys::KEYS.iter().map(|setting| setting.key);
    let (_, of_servers) = reference::EXAMPLE.split_once("[servers.").unwrap();
    for key in keys {
        let is_set = |line: &str| line.starts_with(&format!("{key} = "));
        assert!(of_servers.lines().any(is_set), "{key}");
    }
    assert_eq!(config.policy.threshold, Some(10_000));
    assert_eq!(config.max_store_bytes, Some(10_000_000_000));
    assert_eq!(config.policy.excluded_tools, ["get_status", "read_file*"].map(Glob::new));
    let rule = |pattern: &str, when| ToolRule { pattern: Glob::new(pattern), when };
    let rules = [
        rule("search_*", When::Over(2_000)),
        rule("list_events", When::Always),
        rule("get_*", When::Never),
    ];
    assert_eq!(config.policy.tools, rules, "in the order of the file");
}

#[test]
fn every_setting_has_a_variable() {
    let given = [
        ("FOREBAY_ENABLED", "0"),
        ("FOREBAY_THRESHOLD", "1_234"),
        ("FOREBAY_TOKENIZER", "estimate"),
        ("FOREBAY_EXCLUDED_TOOLS", "a*, b,"),
        ("FOREBAY_SUMMARY_TOKENS", "100"),
        ("FOREBAY_OUTPUT_SCHEMA", "widen"),
        ("FOREBAY_PERSIST_LOCATION", "/elsewhere"),
        ("FOREBAY_CLEANUP_AFTER_DAYS", "0"),
        ("FOREBAY_MAX_STORE_BYTES", "1GiB"),
        ("FOREBAY_MAX_SPOOL_BYTES", "2 GB"),
        ("FOREBAY_COMPRESS_AFTER_DAYS", "0"),
        ("FOREBAY_WAIT_FOR_DISK", "true"),
        ("FOREBAY_ON_STORE_FAILURE", "error"),
        ("FOREBAY_KEEP_ARGUMENTS", "false"),
        ("FOREBAY_CA_FILE", "/ca.pem"),
        ("FOREBAY_TRACES_URL", "http://h:4318/v1/traces"),
        ("FOREBAY_SCHEMA_INFERENCE_SAMPLE_SIZE", "7"),
        ("FOREBAY_SCHEMA_INFERENCE_TYPE_DETECTION", "false"),
        ("FOREBAY_INJECTED_TOOLS", "read-saved-dataset, analyze-with-duckdb"),
        ("FOREBAY_INJECTED_PREFIX", "kept_"),
        ("FOREBAY_SCOPE", "session"),
        ("FOREBAY_REPLY_TOKENS", "500"),
        ("FOREBAY_ESCAPE_FORMULAS", "false"),
        ("FOREBAY_QUERY_MEMORY_LIMIT", "100 MB"),
        ("FOREBAY_QUERY_THREADS", "1"),
        ("FOREBAY_QUERY_SPILL_LIMIT", "1 GB"),
        ("FOREBAY_QUERY_TIME_LIMIT", "5"),
        ("FOREBAY_QUERY_IDLE_TIME", "7"),
        ("FOREBAY_QUERY_MAX_ROWS", "9"),
        ("FOREBAY_QUERY_MAX_BYTES", "2 MB"),
        ("FOREBAY_GATEWAY_SEPARATOR", "-._-"),
        ("FOREBAY_GATEWAY_PREFIX", "where_needed"),
        ("FOREBAY_GATEWAY_EXPOSE", "auto"),
        ("FOREBAY_GATEWAY_EXPOSE_TOKENS", "9000"),
    ];
    let names: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    assert_eq!(names, given.map(|(name, _)| name));
    let (config, warnings) = load(variables(&given)).unwrap();
    assert!(warnings.is_empty() && !config.enabled && !config.policy.keep_arguments);
    assert_eq!(config.persist_location, Path::new("/elsewhere"));
    assert_eq!(config.durability(), Durability::BeforeCommitReturns);
    assert_eq!(config.max_spool_bytes, 2_000_000_000);
    assert_eq!(config.ca_file.as_deref(), Some(Path::new("/ca.pem")));
    assert_eq!(config.traces_url.as_deref(), Some("http://h:4318/v1/traces"));
    let Retention { max_age, max_stored_bytes, compress_after } = config.retention();
    assert_eq!((max_age, max_stored_bytes, compress_after), (None, Some(1 << 30), None));
    assert_eq!(config.policy.scope, forebay_store::Scope::Session);
    assert_eq!(config.formulas, Formulas::AsWritten);
    let gateway = Gateway {
        separator: "-._-".to_owned(),
        prefix: Prefix::WhereNeeded,
        expose: gateway::Expose::Auto,
        expose_tokens: 9_000,
    };
    assert_eq!(config.gateway, gateway);
    let offer = config.offer;
    assert_eq!(offer.tools, [Tool::Analyze, Tool::Read]);
    assert_eq!((offer.prefix.as_str(), offer.reply_tokens), ("kept_", 500));
    let limits = Limits {
        memory_bytes: 100_000_000,
        threads: 1,
        spill_bytes: 1_000_000_000,
        time: Duration::from_secs(5),
        idle: Duration::from_secs(7),
        max_rows: 9,
        max_bytes: 2_000_000,
    };
    assert_eq!(config.query, limits);
    let policy = config.policy;
    assert_eq!((policy.threshold, policy.summary_tokens), (Some(1_234), 100));
    assert_eq!(policy.excluded_tools, ["a*", "b"].map(Glob::new));
    assert_eq!(policy.tokenizer, Tokenizer::Estimate);
    assert_eq!(policy.output_schema, OutputSchema::Widen);
    assert_eq!(policy.on_store_failure, OnStoreFailure::Error);
    let inference = policy.schema_inference;
    assert_eq!((inference.sample_size, inference.type_detection), (7, false));
}

#[test]
fn flags_go_before_variables_and_variables_before_the_file() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("forebay.toml");
    std::fs::write(&file, "threshold = 1\nsummary_tokens = 101\ncleanup_after_days = 1").unwrap();
    let pairs =
        [("FOREBAY_THRESHOLD", "2"), ("FOREBAY_SUMMARY_TOKENS", "102"), ("FOREBAY_ENABLED", "")];
    let threshold = ("--threshold", "threshold", Given::Word("3".to_owned()));
    let expect = |sources: &Sources| {
        let (config, _) = Config::load(sources).unwrap();
        let policy = &config.policy;
        assert_eq!((policy.threshold, policy.summary_tokens), (Some(3), 102));
        assert_eq!(config.cleanup_after_days, 1);
        assert!(config.enabled, "an empty variable is not set");
    };
    // The file in its usual place, the one that a variable names, the one that a flag names.
    let mut at_home = variables(&pairs);
    at_home[0].1 = home.path().into();
    expect(&Sources { variables: at_home, flags: vec![threshold.clone()], file: None });
    let mut named = variables(&pairs);
    named.push(("FOREBAY_CONFIG".into(), file.clone().into()));
    expect(&Sources { variables: named, flags: vec![threshold.clone()], file: None });
    let mut both = variables(&pairs);
    both.push(("FOREBAY_CONFIG".into(), "/dev/null/nowhere".into()));
    expect(&Sources { variables: both, flags: vec![threshold], file: Some(file) });
}

#[test]
fn all_problems_are_told_together_with_their_places() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("forebay.toml"), MISTAKES).unwrap();
    let mut variables = variables(&[
        ("FOREBAY_TOKENIZER", "gpt"),
        ("FOREBAY_WAIT_FOR_DISK", "perhaps"),
        ("FOREBAY_EXCLUDED_TOOLS", "a"),
    ]);
    variables[0].1 = home.path().into();
    let flags = vec![("--threshold", "threshold", Given::Word("many".to_owned()))];
    let problems = Config::load(&Sources { variables, flags, file: None }).unwrap_err();
    let home = home.path().display().to_string();
    insta::assert_snapshot!("problems", problems.to_string().replace(&home, "HOME"));
}

const MISTAKES: &str = r#"treshold = 5
threshold = 0
summary_tokens = 50
enabled = "yes"
Cleanup-After-Days = 3
excluded_tools = ["a", 1]
persist_location = "data"
max_store_bytes = "ten GB"
on_store_failure = "stop"
compress_after_days = -1
cleanup_after_days = 1.5
sample_size = 10
colour = "blue"
schema_inference = 3
broken = = 1

[tools.a]
always = true
never = true

[tools.b]

[tools.c]
tresholt = 3
threshold = "x"

[tools.d]
always = false

[tools]
e = 1
"#;

#[test]
fn a_file_that_is_named_must_be_there() {
    let problems = |sources: &Sources| Config::load(sources).unwrap_err().to_string();
    let by_flag =
        Sources { file: Some("/nowhere.toml".into()), variables: variables(&[]), flags: vec![] };
    let by_variable = variables(&[("FOREBAY_CONFIG", "/nowhere.toml")]);
    for sources in [by_flag, Sources { variables: by_variable, ..Sources::default() }] {
        let said = problems(&sources);
        assert!(said.contains("\n  /nowhere.toml: cannot be read: No such file"), "{said}");
    }
}

#[test]
fn settings_that_are_no_regular_file_keep_nobody_waiting() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("forebay.toml");
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    let said = load(vec![("FOREBAY_HOME".into(), home.path().into())]).unwrap_err().to_string();
    let expected = format!("{}: cannot be read: it is not a regular file", file.display());
    assert!(said.ends_with(&expected), "{said}");
}

#[test]
fn a_variable_that_means_nothing_is_a_warning() {
    let given = [("FOREBAY_TRESHOLD", "9"), ("FOREBAY_MODE", "x"), ("OTHER", "y")];
    let (config, warnings) = load(variables(&given)).unwrap();
    assert_eq!(config.policy.threshold, None);
    let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "FOREBAY_TRESHOLD: there is no such setting; did you mean `FOREBAY_THRESHOLD`?",
            "FOREBAY_MODE: there is no such setting",
        ]
    );
}
