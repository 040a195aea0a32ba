//! What the documents tell people to write can be written: command lines, entries in clients' files, and settings.

use std::{ffi::OsString, fs, path::PathBuf};

use clap::{Parser, error::ErrorKind};
use toml::de::DeTable;

use super::Cli;
use crate::config::{Config, Sources, servers};

/// A document, by its place in the repository.
fn document(path: &str) -> String {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(repository.join(path)).unwrap()
}

/// The fenced blocks of a document in one language.
fn blocks<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let begins = format!("```{language}\n");
    let blocks = document.split(begins.as_str()).skip(1);
    blocks.map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// The words of each command in a block of `sh`, as a shell would split them, without expanding any.
fn commands(block: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = block.chars().peekable();
    while let Some(character) = characters.next() {
        let is_over = match (quote, character) {
            (Some(end), _) if character == end => {
                quote = None;
                continue;
            }
            (Some(_), _) => false,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
                continue;
            }
            (None, '\\') if characters.next_if_eq(&'\n').is_some() => continue,
            (None, '#') if word.is_none() => {
                while characters.next_if(|it| *it != '\n').is_some() {}
                continue;
            }
            (None, _) => character.is_whitespace() || "|&;".contains(character),
        };
        if is_over {
            commands.last_mut().unwrap().extend(word.take());
            if !matches!(character, ' ' | '\t') {
                commands.push(Vec::new());
            }
        } else {
            word.get_or_insert_default().push(character);
        }
    }
    commands.last_mut().unwrap().extend(word);
    commands.retain(|command| !command.is_empty());
    commands
}

/// The part of a command that is for Forebay: all of it, or what another program is told to run.
fn of_forebay(command: &[String]) -> Option<&[String]> {
    let is_assignment = |word: &String| word.contains('=') && !word.starts_with('-');
    let begins = command.iter().take_while(|word| is_assignment(word)).count();
    let behind_dashes = || Some(command.iter().position(|word| word == "--")? + 1);
    let at = [Some(begins), behind_dashes()].into_iter().flatten();
    let mut at = at.filter(|at| command.get(*at).is_some_and(|word| word == "forebay"));
    Some(&command[at.next()?..])
}

/// Why the program would not take these words, or nothing.
fn refusal(words: &[String]) -> Option<String> {
    let error = Cli::try_parse_from(words).err()?;
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    (!is_answer).then(|| format!("{words:?}: {error}"))
}

#[test]
fn every_command_line_of_the_documents_is_one_that_the_program_takes() {
    let mut refused = Vec::new();
    for (path, at_least) in [
        ("README.md", 5),
        ("docs/chroma.md", 1),
        ("docs/install.md", 3),
        ("docs/page.md", 1),
        ("docs/recipes.md", 10),
        ("docs/workspace.md", 3),
    ] {
        let text = document(path);
        let commands: Vec<_> = blocks(&text, "sh").into_iter().flat_map(commands).collect();
        let ours: Vec<_> = commands.iter().filter_map(|it| of_forebay(it)).collect();
        assert!(ours.len() >= at_least, "{path}: {ours:?}");
        refused.extend(ours.into_iter().filter_map(refusal).map(|why| format!("{path}: {why}")));
    }
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn every_entry_of_the_recipes_starts_forebay() {
    let text = document("docs/recipes.md");
    let json = blocks(&text, "json").into_iter().map(|block| {
        let _: serde_json::Value = serde_json::from_str(block).unwrap();
        ("client.json", block)
    });
    let toml = blocks(&text, "toml").into_iter().filter(|block| is_of_client(block)).map(|block| {
        DeTable::parse(block).unwrap();
        ("client.toml", block)
    });
    let files: Vec<_> = json.chain(toml).collect();
    assert!(files.len() >= 6, "{files:?}");
    let home = tempfile::tempdir().unwrap();
    for (name, block) in files {
        let file = home.path().join(name);
        fs::write(&file, block).unwrap();
        // As the doctor finds them.
        let entries = servers::entries(&file);
        assert_eq!(entries.len(), 1, "{block}");
        let words = std::iter::once("forebay".to_owned()).chain(entries[0].words.clone());
        assert_eq!(refusal(&words.collect::<Vec<_>>()), None);
    }
}

/// True of a block for a client's file; all others are for Forebay's own.
fn is_of_client(block: &str) -> bool {
    block.contains("[mcp_servers")
}

#[test]
fn every_setting_of_the_recipes_is_one_that_the_program_knows() {
    let text = document("docs/recipes.md");
    let mut settings = blocks(&text, "toml");
    settings.retain(|block| !is_of_client(block));
    assert!(settings.len() >= 2, "{settings:?}");
    for block in settings {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("forebay.toml"), block).unwrap();
        let variables: Vec<(OsString, OsString)> =
            vec![("FOREBAY_HOME".into(), home.path().into())];
        let (_, warnings) = Config::load(&Sources { variables, ..Sources::default() }).unwrap();
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, Vec::<String>::new(), "{block}");
    }
}

#[test]
fn words_are_split_as_a_shell_splits_them() {
    let block = "A=1 forebay query 'SELECT 1' --csv \\\n  --out x  # a remark\nx add -- forebay wrap -- y | forebay stats; echo forebay";
    let split = commands(block);
    let ours: Vec<_> = split.iter().filter_map(|it| of_forebay(it)).collect();
    assert_eq!(ours.len(), 3, "{split:?}");
    assert_eq!(ours[0], ["forebay", "query", "SELECT 1", "--csv", "--out", "x"]);
    assert_eq!(ours[1], ["forebay", "wrap", "--", "y"]);
    assert_eq!(ours[2], ["forebay", "stats"]);
}
