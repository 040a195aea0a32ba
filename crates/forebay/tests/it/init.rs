//! `forebay init`: what it writes into a project, and what it leaves as it was.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use tempfile::TempDir;

use crate::forebay;

const COMMAND: &str = ".claude/commands/gateway-init.md";

/// A project with these files.
fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(folder.path(), name, text);
    }
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// Everything below a folder, with what is in it.
fn all(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(all(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

/// What is said, on both sides, and what it ends with.
fn init(folder: &TempDir, arguments: &[&str]) -> (String, i32) {
    let output = forebay(["init"]).args(arguments).current_dir(folder).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.code().unwrap())
}

fn done(folder: &TempDir, arguments: &[&str]) -> String {
    let (said, code) = init(folder, arguments);
    assert_eq!(code, 0, "{said}");
    said
}

#[test]
fn init_writes_into_what_is_there_and_remove_restores_it_byte_for_byte() {
    let files = [
        ("CLAUDE.md", "\u{feff}# Ours\r\n\r\nBe kind.\r\n"),
        ("AGENTS.md", "# Agents, without an end of the last line"),
        (".claude/settings.json", "{}"),
    ];
    let folder = project(&files);
    let before = all(folder.path());
    fs::set_permissions(folder.path().join("AGENTS.md"), PermissionsExt::from_mode(0o640)).unwrap();

    let said = done(&folder, &[]);
    assert_eq!(
        said,
        "CLAUDE.md: a section on the tools is added at the end\n\
         AGENTS.md: a section on the tools is added at the end\n\
         .claude/commands/gateway-init.md: made: the command /gateway-init\n"
    );
    let (claudes, agents) = (read(&folder, "CLAUDE.md"), read(&folder, "AGENTS.md"));
    assert!(claudes.starts_with(files[0].1) && agents.starts_with(files[1].1));
    assert!(agents.ends_with("\n<!-- forebay:end -->"), "{agents}");
    assert!(agents.contains("`analyze-with-duckdb`"), "{agents}");
    assert_eq!(claudes.matches('\n').count(), claudes.matches("\r\n").count());
    let mode = fs::metadata(folder.path().join("AGENTS.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(read(&folder, COMMAND).starts_with("---\ndescription: "));

    let marked = all(folder.path());
    assert_eq!(done(&folder, &[]).matches(": up to date\n").count(), 3);
    assert!(all(folder.path()) == marked, "run again, it changes nothing");
    done(&folder, &["--tools", "full"]);
    assert!(read(&folder, "AGENTS.md").contains("`run_code`"), "other tools are told");

    done(&folder, &["--remove"]);
    assert!(all(folder.path()) == before, "{:?}", all(folder.path()));
    let said = done(&folder, &["--remove"]);
    assert_eq!(said.matches(": has no section of ours\n").count(), 2, "{said}");
}

#[test]
fn where_there_is_no_file_one_is_made_and_removed_with_its_section() {
    for (files, arguments, made) in [
        (vec![], vec![], vec!["AGENTS.md"]),
        (vec![], vec!["--claude"], vec![COMMAND, "CLAUDE.md"]),
        (vec![(".claude/x", "")], vec![], vec![COMMAND, ".claude/x", "CLAUDE.md"]),
        (vec![], vec!["--file", "docs/model.md"], vec!["docs/model.md"]),
    ] {
        let folder = project(&files);
        let before = all(folder.path());
        done(&folder, &arguments);
        let names: Vec<String> = all(folder.path()).into_iter().map(|(name, _)| name).collect();
        let made: Vec<String> =
            made.iter().map(|it| folder.path().join(it).display().to_string()).collect();
        assert_eq!(names, made);
        let asked: Vec<&str> = arguments.iter().copied().filter(|it| *it != "--claude").collect();
        done(&folder, &[asked.as_slice(), &["--remove"]].concat());
        assert_eq!(all(folder.path()), before);
        let is_claudes = !files.is_empty() || arguments.contains(&"--claude");
        assert_eq!(folder.path().join(".claude").exists(), is_claudes);
    }
}

#[test]
fn a_folder_of_claude_code_that_was_empty_stays() {
    let folder = project(&[]);
    fs::create_dir(folder.path().join(".claude")).unwrap();
    let said = done(&folder, &[]);
    assert!(
        said.contains("made: the command /gateway-init") && !said.contains("--claude"),
        "{said}"
    );
    done(&folder, &["--remove"]);
    assert!(folder.path().join(".claude").is_dir());
    assert!(!folder.path().join(".claude/commands").exists());
}

#[test]
fn who_has_no_folder_of_claude_code_is_told_how_to_get_the_command() {
    let folder = project(&[]);
    let told = "There is no folder `.claude`, so Claude Code gets no command /gateway-init; `forebay init --claude` \
                writes it.\n";
    assert!(done(&folder, &[]).ends_with(told));
    let said = done(&folder, &["--claude"]);
    assert!(!said.contains("There is no folder"), "{said}");
}

#[test]
fn a_dry_run_shows_what_would_change_and_writes_nothing() {
    let folder = project(&[("AGENTS.md", "# Agents\n")]);
    let before = all(folder.path());
    let said = done(&folder, &["--dry-run"]);
    assert!(said.contains("  +<!-- forebay:begin -->\n"), "{said}");
    assert!(!said.contains("# Agents"), "{said}");
    assert!(said.ends_with("Nothing has been written.\n"), "{said}");
    assert_eq!(all(folder.path()), before);

    done(&folder, &[]);
    let marked = all(folder.path());
    let said = done(&folder, &["--dry-run", "--tools", "list-saved-datasets"]);
    assert!(said.contains("  -- `analyze-with-duckdb`"), "{said}");
    assert!(!said.contains("## Large"), "what stays is not shown: {said}");
    let said = done(&folder, &["--dry-run", "--remove"]);
    assert!(said.contains("  -<!-- forebay:end -->\n"), "{said}");
    assert_eq!(all(folder.path()), marked);
}

#[test]
fn marks_that_do_not_fit_together_are_refused_and_no_file_is_written() {
    let files =
        [("AGENTS.md", "# Agents\n<!-- forebay:begin -->\nUse it.\n"), ("CLAUDE.md", "# Ours\n")];
    let folder = project(&files);
    write(folder.path(), ".claude/settings.json", "{}");
    let before = all(folder.path());
    for arguments in [&[][..], &["--remove"], &["--dry-run"]] {
        let (said, code) = init(&folder, arguments);
        assert_eq!(
            (said.as_str(), code),
            (
                "forebay: `AGENTS.md` is left as it is: line 2 begins a section that nothing ends; write the \
                 line `<!-- forebay:end -->` behind it, or delete line 2\n",
                4
            )
        );
        assert_eq!(all(folder.path()), before);
    }
}

#[test]
fn a_link_stays_one_and_what_it_leads_to_is_written_once() {
    let folder = project(&[("shared/rules.md", "# Rules\n")]);
    symlink("shared/rules.md", folder.path().join("AGENTS.md")).unwrap();
    symlink("AGENTS.md", folder.path().join("CLAUDE.md")).unwrap();
    done(&folder, &[]);
    let rules = read(&folder, "shared/rules.md");
    assert_eq!(rules.matches("<!-- forebay:begin -->").count(), 1, "{rules}");
    for link in ["AGENTS.md", "CLAUDE.md"] {
        assert!(folder.path().join(link).is_symlink());
    }
    assert!(
        !folder
            .path()
            .join("shared")
            .read_dir()
            .unwrap()
            .any(|it| { it.unwrap().file_name().to_string_lossy().starts_with(".forebay") })
    );
    done(&folder, &["--remove"]);
    assert_eq!(read(&folder, "shared/rules.md"), "# Rules\n");
}

#[test]
fn a_claude_md_that_reads_agents_md_is_not_told_twice() {
    let folder = project(&[("CLAUDE.md", "@AGENTS.md\n"), ("AGENTS.md", "# Agents\n")]);
    let said = done(&folder, &[]);
    assert!(said.starts_with("AGENTS.md: a section on the tools is added at the end\n"), "{said}");
    assert!(!said.contains("CLAUDE.md"), "{said}");
    assert_eq!(read(&folder, "CLAUDE.md"), "@AGENTS.md\n");
}

#[test]
fn a_command_that_somebody_has_changed_is_theirs() {
    let folder = project(&[(COMMAND, "---\ndescription: mine\n---\nDo it my way.\n")]);
    let said = done(&folder, &[]);
    assert!(said.contains("gateway-init.md: has been changed; left as it is"), "{said}");
    let said = done(&folder, &["--remove"]);
    assert!(said.contains("gateway-init.md: has been changed; left as it is"), "{said}");
    assert!(read(&folder, COMMAND).ends_with("my way.\n"));
}

#[test]
fn what_cannot_be_written_into_is_told() {
    let folder = project(&[]);
    fs::create_dir(folder.path().join("AGENTS.md")).unwrap();
    let (said, code) = init(&folder, &[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("cannot read `AGENTS.md`: it is not a regular file"), "{said}");
    symlink("nowhere", folder.path().join("CLAUDE.md")).unwrap();
    let (said, _) = init(&folder, &["--file", "CLAUDE.md"]);
    assert!(said.contains("cannot read `CLAUDE.md`"), "{said}");
    let (said, code) = init(&folder, &["--directory", "nowhere"]);
    assert_eq!((said.as_str(), code), ("forebay: there is no folder `nowhere`\n", 3));
    let (said, code) = init(&folder, &["--tools", "none"]);
    assert!(said.contains("the settings offer no tools") && code == 4, "{said}");
}

#[test]
fn the_tools_that_are_told_are_those_that_are_listed() {
    let folder = project(&[("servers.json", r#"{"mcpServers": {"one": {"command": "cat"}}}"#)]);
    let output = forebay(["init", "--servers", "servers.json"])
        .env("FOREBAY_INJECTED_PREFIX", "fb-")
        .env("FOREBAY_GATEWAY_EXPOSE", "search")
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(output.status.success());
    let told = read(&folder, "AGENTS.md");
    for tool in ["fb-analyze-with-duckdb", "fb-search_tools", "fb-call_tool", "fb-list_servers"] {
        assert!(told.contains(&format!("`{tool}`")), "{told}");
    }
}

#[test]
fn a_file_outside_of_the_project_is_refused() {
    let folder = project(&[("project/a.md", "# A\n"), ("outside.md", "# Theirs\n")]);
    let inside = folder.path().join("project");
    symlink("../outside.md", inside.join("link.md")).unwrap();
    symlink("..", inside.join("up")).unwrap();
    let outside = folder.path().join("outside.md").display().to_string();
    let before = all(folder.path());
    for name in ["../outside.md", "new/../../x.md", "link.md", "up/outside.md", outside.as_str()] {
        for more in [&[][..], &["--remove"]] {
            let arguments = [&["--directory", "project", "--file", name], more].concat();
            let (said, code) = init(&folder, &arguments);
            assert_eq!(code, 2, "{name}: {said}");
            assert!(said.contains(&format!("`--file {name}` leads out of the project")), "{said}");
        }
    }
    assert_eq!(all(folder.path()), before);
    let own = inside.join("a.md").display().to_string();
    for name in ["./new/b.md", own.as_str()] {
        done(&folder, &["--directory", "project", "--file", name]);
    }
    assert!(read(&folder, "project/new/b.md").starts_with("<!-- forebay:begin -->"));
}
