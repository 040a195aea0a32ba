//! Files, variables and flags in; settings or problems out.

use std::path::Path;

use forebay_insight::Choice;
use forebay_intercept::{
    Caching, FilePolicy, Glob, OnStoreFailure, OutputSchema, References, Tokenizer, ToolRule, When,
};
use forebay_proxy::router::Prefix;
use forebay_tools::{Destructive, Formulas, PagingSettings, PagingStyle, Tool};

use super::{settings::Setting, *};

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
    let forgiving = settings::all().filter(|it| it.weight() == problem::Weight::PassedOver);
    assert_eq!(forgiving.count(), settings::FORGIVING.len());
}

#[test]
fn the_table_states_the_defaults_that_hold() {
    for setting in settings::all() {
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
    for setting in settings::all() {
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
    let rule = |pattern: &str, when| ToolRule { when: Some(when), ..ToolRule::of(pattern) };
    let read = ToolRule {
        path_arguments: Some(vec!["path".to_owned()]),
        cache: Some(Caching { seconds: 60, is_for_unmarked: true }),
        ..ToolRule::of("read_*")
    };
    let write = ToolRule { references: Some(false), ..ToolRule::of("write_*") };
    let build = ToolRule { job_after: Some(20), ..ToolRule::of("build_*") };
    let rules = [
        rule("search_*", When::Over(2_000)),
        rule("list_events", When::Always),
        rule("get_*", When::Never),
        read,
        write,
        build,
    ];
    assert_eq!(config.policy.tools, rules, "in the order of the file");
}

/// A variable for every setting, in their order, with another value than the default.
const VARIABLES: &[(&str, &str)] = &[
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
    ("FOREBAY_PAGING", "auto"),
    ("FOREBAY_QUERY_MEMORY_LIMIT", "100 MB"),
    ("FOREBAY_QUERY_THREADS", "1"),
    ("FOREBAY_QUERY_SPILL_LIMIT", "1 GB"),
    ("FOREBAY_QUERY_TIME_LIMIT", "5"),
    ("FOREBAY_QUERY_IDLE_TIME", "7"),
    ("FOREBAY_QUERY_MAX_ROWS", "9"),
    ("FOREBAY_QUERY_MAX_BYTES", "2 MB"),
    ("FOREBAY_CODE_WALL_SECONDS", "11"),
    ("FOREBAY_CODE_CPU_SECONDS", "12"),
    ("FOREBAY_CODE_MEMORY_BYTES", "64 MB"),
    ("FOREBAY_CODE_OUTPUT_BYTES", "3 MB"),
    ("FOREBAY_CODE_MAX_CALLS", "13"),
    ("FOREBAY_CODE_CALLS_AT_ONCE", "14"),
    ("FOREBAY_CODE_RUNS_AT_ONCE", "15"),
    ("FOREBAY_CODE_IDLE_TIME", "16"),
    ("FOREBAY_CODE_DESTRUCTIVE_TOOLS", "true"),
    ("FOREBAY_FILES_MAX_BYTES", "3000"),
    ("FOREBAY_FILES_MAX_IMAGE_BYTES", "4000"),
    ("FOREBAY_FILES_MAX_AUDIO_BYTES", "5000"),
    ("FOREBAY_FILES_MAX_BLOB_BYTES", "6000"),
    ("FOREBAY_FILES_MAX_TEXT_BYTES", "0"),
    ("FOREBAY_FILES_GATHER_ABOVE", "3"),
    ("FOREBAY_FILES_SHOW_IMAGES_UP_TO", "8 KB"),
    ("FOREBAY_REFERENCES_ENABLED", "false"),
    ("FOREBAY_REFERENCES_MAX_BYTES", "7 MB"),
    ("FOREBAY_REFERENCES_SHARES_DISK", "true"),
    ("FOREBAY_RESOURCES_ENABLED", "false"),
    ("FOREBAY_RESOURCES_MAX_BYTES", "6 MB"),
    ("FOREBAY_OUTPUTS_ENABLED", "false"),
    ("FOREBAY_OUTPUTS_BASE_URL", "https://forebay.example.com/"),
    ("FOREBAY_OUTPUTS_LINK_SECONDS", "60"),
    ("FOREBAY_OUTPUTS_MAX_BYTES", "4 MB"),
    ("FOREBAY_OUTPUTS_REQUESTS_PER_MINUTE", "0"),
    ("FOREBAY_PAGE_ENABLED", "false"),
    ("FOREBAY_JOBS_ARGUMENT", "true"),
    ("FOREBAY_JOBS_EXPIRE_SECONDS", "21"),
    ("FOREBAY_JOBS_MAX_RUNNING", "22"),
    ("FOREBAY_JOBS_MAX_PER_SESSION", "23"),
    ("FOREBAY_JOBS_MAX_WAIT_SECONDS", "24"),
    ("FOREBAY_JOBS_MAX_RUN_SECONDS", "25"),
    ("FOREBAY_SUMMARIES_PROVIDER", "anthropic"),
    ("FOREBAY_SUMMARIES_MODEL", "a-model"),
    ("FOREBAY_SUMMARIES_URL", "http://h:1"),
    ("FOREBAY_SUMMARIES_KEY_VARIABLE", "MODELS_KEY"),
    ("FOREBAY_SUMMARIES_THRESHOLD_BYTES", "3 KB"),
    ("FOREBAY_SUMMARIES_DEADLINE_SECONDS", "5"),
    ("FOREBAY_SUMMARIES_INPUT_TOKENS", "600"),
    ("FOREBAY_SUMMARIES_MAX_RUNNING", "7"),
    ("FOREBAY_SUMMARIES_CACHE_SIMILARITY", "80"),
    ("FOREBAY_SUMMARIES_CACHE_HOURS", "9"),
    ("FOREBAY_GATEWAY_SEPARATOR", "-._-"),
    ("FOREBAY_GATEWAY_PREFIX", "where_needed"),
    ("FOREBAY_GATEWAY_EXPOSE", "auto"),
    ("FOREBAY_GATEWAY_EXPOSE_TOKENS", "9000"),
    ("FOREBAY_LOG_FILE_LEVEL", "off"),
    ("FOREBAY_SEARCH_ENABLED", "false"),
    ("FOREBAY_SEARCH_QUIET_SECONDS", "31"),
    ("FOREBAY_SEARCH_MAX_PASSAGES", "32"),
    ("FOREBAY_SEARCH_MAX_VECTORS", "33"),
    ("FOREBAY_SEARCH_IDLE_TIME", "34"),
    ("FOREBAY_SEARCH_EMBEDDER", "service"),
    ("FOREBAY_SEARCH_EMBEDDER_URL", "http://h:11434/v1"),
    ("FOREBAY_SEARCH_EMBEDDER_MODEL", "nomic-embed-text"),
    ("FOREBAY_SEARCH_EMBEDDER_KEY_VARIABLE", "EMBEDDINGS_KEY"),
    ("FOREBAY_CHROMA_URL", "http://chroma:8000"),
];

#[test]
fn every_setting_has_a_variable() {
    let names: Vec<String> = settings::all().map(Setting::variable).collect();
    let given: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, given);
    let (config, warnings) = load(variables(VARIABLES)).unwrap();
    assert!(warnings.is_empty() && !config.enabled && !config.policy.keep_arguments);
    assert_eq!(config.persist_location, Path::new("/elsewhere"));
    assert_eq!(config.durability(), Durability::BeforeCommitReturns);
    assert_eq!(config.max_spool_bytes, 2_000_000_000);
    assert_eq!(config.ca_file.as_deref(), Some(Path::new("/ca.pem")));
    assert_eq!(config.traces_url.as_deref(), Some("http://h:4318/v1/traces"));
    assert_eq!(config.log_file_level, log::FileLevel::Off);
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
    check_code(&config.code, config.destructive);
    check_jobs(&config.jobs);
    assert_eq!(config.resources, Resources { is_enabled: false, max_bytes: 6_000_000 });
    check_outputs(&config.outputs);
    assert!(!config.page);
    check_search(&config.search);
    check_summaries(&config.summaries);
    check_policy(&config.policy);
}

#[test]
fn variables_that_others_know_stand_behind_our_own() {
    let url = |given: &[(&str, &str)]| {
        let (config, warnings) = load(variables(given)).unwrap();
        (config.search.chroma_url, warnings.len())
    };
    let theirs = ("MCP_GATEWAY_CHROMA_URL", "http://theirs");
    assert_eq!(url(&[theirs]), (Some("http://theirs".to_owned()), 0));
    let ours = ("FOREBAY_CHROMA_URL", "http://ours");
    assert_eq!(url(&[theirs, ours]), (Some("http://ours".to_owned()), 0));
    assert_eq!(url(&[("MCP_GATEWAY_CHROMA_URL", "nowhere")]), (None, 1));
    assert_eq!(url(&[("FOREBAY_CHROMA_TOKEN", "a secret of ours")]), (None, 0));
}

/// What the variables say about programs.
fn check_code(code: &forebay_sandbox::Limits, destructive: Destructive) {
    let limits = forebay_sandbox::Limits {
        wall: Duration::from_secs(11),
        cpu: Duration::from_secs(12),
        memory_bytes: 64_000_000,
        output_bytes: 3_000_000,
        max_calls: 13,
        calls_at_once: 14,
        runs_at_once: 15,
        idle: Duration::from_secs(16),
    };
    assert_eq!((code, destructive), (&limits, Destructive::Allowed));
}

/// What the variables say about jobs.
fn check_jobs(given: &JobSettings) {
    let jobs = JobSettings {
        argument: true,
        lifetime: Duration::from_secs(21),
        max_running: 22,
        max_per_session: 23,
        max_wait: Duration::from_secs(24),
        max_run: Duration::from_secs(25),
    };
    assert_eq!(*given, jobs);
}

/// What the variables say about URLs.
fn check_outputs(outputs: &Outputs) {
    let said = Outputs {
        is_enabled: false,
        base_url: Some("https://forebay.example.com/".to_owned()),
        link_seconds: 60,
        max_bytes: 4_000_000,
        requests_per_minute: 0,
    };
    assert_eq!(*outputs, said);
}

/// What the variables say about finding what was kept.
fn check_search(given: &Search) {
    let said = Search {
        is_enabled: false,
        quiet: Duration::from_secs(31),
        max_passages: 32,
        max_vectors: 33,
        idle: Duration::from_secs(34),
        embedder: search::Embedding::Service,
        embedder_url: Some("http://h:11434/v1".to_owned()),
        embedder_model: Some("nomic-embed-text".to_owned()),
        embedder_key_variable: Some("EMBEDDINGS_KEY".to_owned()),
        chroma_url: Some("http://chroma:8000".to_owned()),
    };
    assert_eq!(*given, said);
}

/// What the variables say about models.
fn check_summaries(summaries: &Summaries) {
    let said = Summaries {
        provider: Some(Choice::Anthropic),
        model: Some("a-model".to_owned()),
        url: Some("http://h:1".to_owned()),
        key_variable: Some("MODELS_KEY".to_owned()),
        threshold_bytes: 3_000,
        deadline: Duration::from_secs(5),
        input_tokens: 600,
        max_running: 7,
        cache_similarity: 80,
        cache_hours: 9,
    };
    assert_eq!(*summaries, said);
    let reuse = summaries.settings().reuse;
    assert!((reuse.similarity - 0.8).abs() < 1e-6 && reuse.age == Duration::from_secs(32_400));
}

#[test]
fn variables_that_others_know_stand_for_settings_and_ours_go_before_them() {
    let provider = |pairs: &[(&str, &str)]| load(variables(pairs)).unwrap().0.summaries.provider;
    let (on, key) = (("MCP_GATEWAY_INTELLIGENCE_ENABLED", "true"), ("GEMINI_API_KEY", "k"));
    assert_eq!(provider(&[on, key]), Some(Choice::Gemini));
    assert_eq!(provider(&[on]), None, "without a key nobody can be asked");
    let (_, problems) = load(variables(&[on])).unwrap();
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(problem.to_string().contains("set GEMINI_API_KEY"), "{problem}");
    for others in [[on, key], [on, ("FOREBAY_SUMMARIES_PROVIDER", "openai")]] {
        assert_eq!(load(variables(&others)).unwrap().1.len(), 0, "{others:?}");
    }
    assert_eq!(provider(&[key]), None, "a key alone is no wish");
    assert_eq!(provider(&[("MCP_GATEWAY_INTELLIGENCE_ENABLED", "false"), key]), None);
    assert_eq!(provider(&[on, key, ("FOREBAY_SUMMARIES_PROVIDER", "none")]), None);
    let unclear = ("MCP_GATEWAY_INTELLIGENCE_ENABLED", "maybe");
    let (config, problems) = load(variables(&[unclear, key])).unwrap();
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    let is_told = problem.to_string().contains("`maybe`");
    assert!(config.summaries.provider.is_none() && is_told, "{problem}");
    let bytes = ("MCP_GATEWAY_SUMMARY_THRESHOLD_BYTES", "4096");
    let (config, problems) = load(variables(&[bytes])).unwrap();
    assert_eq!((config.summaries.threshold_bytes, problems.len()), (4_096, 0));
    let ours = ("FOREBAY_SUMMARIES_THRESHOLD_BYTES", "1");
    assert_eq!(load(variables(&[bytes, ours])).unwrap().0.summaries.threshold_bytes, 1);
    let odd = ("MCP_GATEWAY_SUMMARY_THRESHOLD_BYTES", "many");
    let (config, problems) = load(variables(&[odd])).unwrap();
    assert_eq!((config.summaries.threshold_bytes, problems.len()), (2_048, 1));
}

/// What the variables say about results.
fn check_policy(policy: &Policy) {
    assert_eq!((policy.threshold, policy.summary_tokens), (Some(1_234), 100));
    assert_eq!(policy.excluded_tools, ["a*", "b"].map(Glob::new));
    assert_eq!(policy.tokenizer, Tokenizer::Estimate);
    let files = FilePolicy {
        max_bytes: 3_000,
        max_image_bytes: Some(4_000),
        max_audio_bytes: Some(5_000),
        max_blob_bytes: Some(6_000),
        max_text_bytes: None,
        gather_above: 3,
        show_images_up_to: 8_000,
    };
    assert_eq!(policy.files, files);
    let References { is_enabled, max_bytes, shares_disk } = policy.references;
    assert_eq!((is_enabled, max_bytes, shares_disk), (false, 7_000_000, true));
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

#[test]
fn a_tool_can_have_pages_besides_what_is_kept_of_it() {
    let config = of_file(
        r#"
paging = "auto"
[tools."get_*"]
paging = "off"
[tools.list_all]
always = true
paging = { style = "offset", offset_parameter = "skip", page_size = 50, max_bytes = "1 MB" }
"#,
    )
    .unwrap();
    assert_eq!(config.policy.tools.len(), 1);
    assert_eq!(config.paging.otherwise, Some(PagingSettings::default()));
    let [off, set] = config.paging.tools.as_slice() else { panic!("{:?}", config.paging) };
    assert_eq!((off.pattern.as_str(), &off.settings), ("get_*", &None));
    let expected = PagingSettings {
        style: PagingStyle::Offset,
        offset_parameter: Some("skip".to_owned()),
        page_size: Some(50),
        max_bytes: 1_000_000,
        ..PagingSettings::default()
    };
    assert_eq!(set.settings, Some(expected));
}

#[test]
fn mistakes_about_pages_are_told_with_what_to_write() {
    for (written, told) in [
        ("paging = \"on\"", "`paging` cannot be \"on\"; write \"off\" or \"auto\""),
        ("[tools.a]\npaging = 3", "or a table `[tools.\"a\".paging]`"),
        ("[tools.a.paging]\nstile = \"page\"", "`paging` has no `stile`; write `style`"),
        ("[tools.a.paging]\nrecords = \"data\"", "write a JSON pointer, such as \"/data/items\""),
        ("[tools.a.paging]\nmax_seconds = 0", "write a number from 1 to 3600"),
        ("[tools.a.paging]\npage_parameter = \"\"", "write the name of a parameter"),
    ] {
        let said = of_file(written).unwrap_err().to_string();
        assert!(said.contains(told), "{said}");
    }
}
