//! Arguments as they came in, what is kept of them out.

use forebay_proxy::body::Source;
use serde_json::json;

use super::*;

fn kept_of(json: &str) -> Kept {
    kept(&read(json))
}

fn value_of(json: &Value) -> Value {
    kept_of(&json.to_string()).value
}

#[test]
fn arguments_without_secrets_are_kept_as_they_are() {
    let arguments = json!({
        "query": "is:open author:me token economics", "page": 2, "ratio": 0.25, "deep": [[{"a": null}]],
        "big": u64::MAX, "low": i64::MIN, "ok": true, "none": {}, "url": "https://example.com:8080/a?b=c@d",
    });
    assert_eq!(value_of(&arguments), arguments);
    assert_eq!(kept_of(r#"{"a": 1}"#).hash, Hash::Told(blake3_of(r#"{"a": 1}"#)));
}

fn blake3_of(json: &str) -> String {
    read(json).hash()
}

fn read(json: &str) -> Arguments {
    Arguments::read(Source::Line(json.as_bytes()), &(0..json.len() as u64)).unwrap()
}

#[test]
fn names_of_secrets_are_told_from_names_like_them() {
    for name in [
        "password",
        "PASSWORD",
        "db_password",
        "dbPassword",
        "userpassword",
        "passwd",
        "passphrase",
        "secret",
        "client_secret",
        "clientSecret",
        "SECRET_KEY",
        "token",
        "access_token",
        "authToken",
        "X-Auth-Token",
        "githubtoken",
        "refresh-token",
        "api_key",
        "apikey",
        "apiKey",
        "APIKey",
        "X-API-Key",
        "api_keys",
        "openai_api_key",
        "access_key",
        "AWSAccessKeyId",
        "private_key",
        "privateKey",
        "signing_key",
        "ssh_key",
        "Authorization",
        "proxy-authorization",
        "auth",
        "basic_auth",
        "cookie",
        "Set-Cookie",
        "cookies",
        "credentials",
        "credential",
        "session",
        "session_id",
        "sessionId",
        "PHPSESSIONID",
        "session_token",
        "password_confirmation",
        "change_password",
        "pwd",
        "db.password",
        "db pass",
    ] {
        assert_eq!(value_of(&json!({name: "abc", "b": 1})), json!({name: "***", "b": 1}), "{name}");
    }
    for name in [
        "author",
        "authors",
        "authority",
        "tokens",
        "max_tokens",
        "maxTokens",
        "token_count",
        "tokenizer",
        "next_page_token",
        "nextPageToken",
        "pageToken",
        "page_token",
        "NextToken",
        "nexttoken",
        "continuation_token",
        "cursor",
        "key",
        "issue_key",
        "project_key",
        "sort_key",
        "public_key",
        "keyword",
        "keys",
        "secret_name",
        "auth_type",
        "token_url",
        "token_address",
        "password_policy",
        "sessions",
        "session_date",
        "compass",
        "passed",
        "bypass",
        "secretary",
        "monkey",
        "path",
        "",
        "_",
        "cookie_domain",
        "passenger",
        "description",
    ] {
        let arguments = json!({name: "abc"});
        assert_eq!(value_of(&arguments), arguments, "{name}");
    }
}

#[test]
fn a_secret_is_masked_whatever_it_is_and_wherever_it_lies() {
    let arguments = json!({
        "password": 1234, "token": ["a", "b"], "credentials": {"user": "u", "code": "c"},
        "list": [{"deep": {"api_key": "k", "kept": 1}}],
        "headers": [{"name": "Authorization", "value": "Basic dTpw"}, {"name": "Accept", "value": "*"}],
        "args": ["--password", "hunter2", "--verbose", "-x"],
        "with_secret": true, "secret": null, "cookie": "",
    });
    let expected = json!({
        "password": "***", "token": "***", "credentials": "***",
        "list": [{"deep": {"api_key": "***", "kept": 1}}],
        "headers": [{"name": "Authorization", "value": "***"}, {"name": "Accept", "value": "*"}],
        "args": ["--password", "***", "--verbose", "-x"],
        "with_secret": true, "secret": null, "cookie": "***",
    });
    assert_eq!(value_of(&arguments), expected);
    assert_eq!(
        kept_of(&arguments.to_string()).hash,
        Hash::Withheld,
        "a guess could be checked with it"
    );
}

#[test]
fn a_secret_is_known_by_its_form() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
    for (text, expected) in [
        ("Bearer abc.def-123", "Bearer ***"),
        ("curl -H 'Authorization: Basic dTpw' x", "curl -H 'Authorization: ***' x"),
        ("Cookie: a=1; b=2\nAccept: */*", "Cookie: ***\nAccept: */*"),
        ("use sk-proj-AbCdEf0123456789xyz now", "use *** now"),
        ("sk-learn-for-absolute-beginners", "sk-learn-for-absolute-beginners"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "***"),
        ("github_pat_11ABCDEFG0_abcdefghijklmnop", "***"),
        ("xoxb-123456789012-abcdef", "***"),
        ("xoxp-123456789012-abcdef", "***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("glpat-abcdefghij0123456789", "***"),
        (jwt, "***"),
        (&format!("before\n{key}\nafter"), "before\n***\nafter"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE… (99999 bytes)", "***"),
        ("-----BEGIN PUBLIC KEY-----\nMIIE", "-----BEGIN PUBLIC KEY-----\nMIIE"),
        ("https://user:pass@example.com/a", "https://user:***@example.com/a"),
        ("redis://:pa:ss@host:6379/0", "redis://:***@host:6379/0"),
        ("postgres://app:hun… (20000 bytes)", "postgres://app:***… (20000 bytes)"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ("https://x.org/?q=1&api_key=abc&page=2", "https://x.org/?q=1&api_key=***&page=2"),
        (
            "export TOKEN=abc DB_PASS=x; run --password hunter2 -v",
            "export TOKEN=*** DB_PASS=***; run --password *** -v",
        ),
        ("Server=x;Password=\"a b\";Port=1", "Server=x;Password=\"***\";Port=1"),
        (
            "{\"user\": \"u\", \"credentials\": {\"a\": 1}}",
            "{\"credentials\":\"***\",\"user\":\"u\"}",
        ),
        ("{\"user\": \"u\"}", "{\"user\": \"u\"}"),
        ("{secret: 'abc', page: 1", "{secret: '***', page: 1"),
        ("Session: how auth: works", "Session: how auth: works"),
        ("pageToken=abc max_tokens: 5", "pageToken=abc max_tokens: 5"),
    ] {
        assert_eq!(value_of(&json!({"a": [text]})), json!({"a": [expected]}), "{text}");
    }
}

#[test]
fn what_a_number_or_a_text_cannot_hold_is_kept_as_it_is_written() {
    let kept = |json: &str| kept_of(json).value;
    assert_eq!(
        kept("[12345678901234567890123, 1e999, -0.5]"),
        json!(["12345678901234567890123", "1e999", -0.5])
    );
    assert_eq!(kept(r#"{"a": "\ud800"}"#), json!({"a": "\"\\ud800\""}));
}

#[test]
fn what_lies_too_deep_is_told_and_its_file_can_be_read_again() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let kept = kept_of(&deep).value.to_string();
    assert!(kept.contains("… (872 bytes)"), "{kept}");
    serde_json::from_str::<Value>(&kept).unwrap();
}
