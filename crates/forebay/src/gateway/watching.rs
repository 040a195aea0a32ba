//! Files that are watched while a gateway is under way: those with its settings, and those that a server under
//! development is made of.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use forebay_proxy::{router::UpstreamName, upstream::GroupSettings};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::plans;
use crate::config::{Config, servers::Server};

/// What is written at once (by an editor, a build, a checkout) is one change.
const SETTLED: Duration = Duration::from_millis(300);

/// What is watched, and what follows from a change.
pub(crate) struct Watched {
    group: Arc<GroupSettings>,
    /// Files with settings.
    settings: Vec<PathBuf>,
    /// What servers are made of, by their names.
    places: Vec<(String, PathBuf)>,
    reload: Option<Reload>,
}

/// Settings that are read again when they change.
struct Reload {
    load: Box<dyn Fn() -> Result<Config> + Send>,
    /// The servers as they are now.
    servers: Vec<Server>,
}

/// Watches what one server is made of.
pub(super) fn watch_one(
    name: &UpstreamName,
    watch: Vec<PathBuf>,
    group: Arc<GroupSettings>,
) -> Result<()> {
    for path in &watch {
        path.metadata().with_context(|| format!("`{}` cannot be watched", path.display()))?;
    }
    let places = watch.into_iter().map(|path| (name.to_string(), path)).collect();
    Watched { group, settings: Vec::new(), places, reload: None }.watch()
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Changed {
    Settings,
    Server(String),
}

impl Watched {
    /// The servers of the settings, which `load` reads again out of these files.
    pub(crate) fn settings(
        group: Arc<GroupSettings>,
        settings: Vec<PathBuf>,
        config: &Config,
        load: impl Fn() -> Result<Config> + Send + 'static,
    ) -> Self {
        let servers = config.servers.clone();
        let places = places(&servers);
        Self { group, settings, places, reload: Some(Reload { load: Box::new(load), servers }) }
    }

    /// Watches from now on, for as long as the program runs.
    pub(crate) fn watch(self) -> Result<()> {
        let (sender, events) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(sender).context("files cannot be watched")?;
        let mut watching = Watching::default();
        watching.begin(&mut watcher, &self);
        thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || self.follow(watcher, watching, &events))
            .context("files cannot be watched")?;
        Ok(())
    }

    fn follow(
        mut self,
        mut watcher: RecommendedWatcher,
        mut watching: Watching,
        events: &mpsc::Receiver<notify::Result<Event>>,
    ) {
        while let Ok(first) = events.recv() {
            let mut changed = watching.changed(first);
            if changed.is_empty() {
                continue;
            }
            // A build may write for longer than that; whoever writes on is waited for. What else happens in
            // the same folders, such as in our own home, is not.
            let mut settled_at = Instant::now() + SETTLED;
            while let Ok(next) =
                events.recv_timeout(settled_at.saturating_duration_since(Instant::now()))
            {
                let more = watching.changed(next);
                if !more.is_empty() {
                    settled_at = Instant::now() + SETTLED;
                    changed.extend(more);
                }
            }
            for change in changed {
                match change {
                    Changed::Server(name) => {
                        tracing::info!(server = name, "files have changed; started anew");
                        self.group.restart(&UpstreamName::new(name));
                    }
                    Changed::Settings => self.reload(),
                }
            }
            watching.begin(&mut watcher, &self);
        }
    }

    /// Reads the settings again. With a mistake in them all stays as it was.
    fn reload(&mut self) {
        let Some(Reload { load, servers }) = &mut self.reload else { return };
        let read = load().and_then(|config| Ok((plans(&config)?, config.servers)));
        match read {
            Ok((_, same)) if same == *servers => {}
            Ok((plans, new)) => {
                tracing::info!("the settings of servers have changed, and are taken over");
                self.group.rearrange(plans);
                self.places = places(&new);
                *servers = new;
            }
            Err(error) => {
                tracing::warn!("the settings cannot be used, and stay as they were: {error:#}");
            }
        }
    }
}

/// What servers are made of, by their names.
fn places(servers: &[Server]) -> Vec<(String, PathBuf)> {
    let of = |server: &Server| {
        let name = server.name.clone();
        server.watch.clone().into_iter().map(move |path| (name.clone(), path))
    };
    servers.iter().flat_map(of).collect()
}

/// Which places are watched, for what.
#[derive(Default)]
struct Watching {
    places: BTreeSet<PathBuf>,
    settings: Vec<PathBuf>,
    servers: Vec<(String, PathBuf)>,
}

impl Watching {
    fn begin(&mut self, watcher: &mut RecommendedWatcher, what: &Watched) {
        self.settings = what.settings.iter().map(|path| whole(path)).collect();
        let places = what.places.iter().map(|(name, path)| (name.clone(), whole(path)));
        self.servers = places.collect();
        let mut places = Vec::new();
        // An editor puts another file in the place of the one that it has read: its folder is watched.
        for path in &self.settings {
            places.extend(
                path.parent().map(|folder| (folder.to_owned(), RecursiveMode::NonRecursive)),
            );
        }
        for (_, path) in &self.servers {
            match path.parent() {
                Some(folder) if !path.is_dir() => {
                    places.push((folder.to_owned(), RecursiveMode::NonRecursive));
                }
                _ => places.push((path.clone(), RecursiveMode::Recursive)),
            }
        }
        for (place, mode) in places {
            // A folder for settings that is not there holds none.
            if !place.exists() || !self.places.insert(place.clone()) {
                continue;
            }
            if let Err(error) = watcher.watch(&place, mode) {
                tracing::warn!("`{}` cannot be watched: {error}", place.display());
            }
        }
    }

    /// What an event is about.
    fn changed(&self, event: notify::Result<Event>) -> BTreeSet<Changed> {
        let Ok(event) = event else { return BTreeSet::new() };
        if matches!(event.kind, EventKind::Access(_)) {
            return BTreeSet::new();
        }
        let mut changed = BTreeSet::new();
        for path in &event.paths {
            if self.settings.contains(path) {
                changed.insert(Changed::Settings);
            }
            for (name, place) in &self.servers {
                if path.starts_with(place) && !is_by_the_way(path, place) {
                    changed.insert(Changed::Server(name.clone()));
                }
            }
        }
        changed
    }
}

/// A path as events have it. A file may be a link, which is what changes.
fn whole(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.canonicalize().unwrap_or_else(|_| path.to_owned());
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent().and_then(|folder| folder.canonicalize().ok()), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// True if a file below a watched folder is none that a server is made of.
fn is_by_the_way(path: &Path, place: &Path) -> bool {
    const FOLDERS: [&str; 6] =
        [".git", "node_modules", "__pycache__", ".venv", "target", ".mypy_cache"];
    let below = path.strip_prefix(place).unwrap_or(path);
    let mut names = below.iter().filter_map(|name| name.to_str());
    let is_swap = |name: &str| Path::new(name).extension().is_some_and(|it| it == "swp");
    names.any(|name| FOLDERS.contains(&name) || name.ends_with('~') || is_swap(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_editor_or_a_build_leaves_beside_is_by_the_way() {
        let place = Path::new("/p/target");
        for (path, expected) in [
            ("/p/target/src/a.py", false),
            ("/p/target/node_modules/x/y.js", true),
            ("/p/target/src/__pycache__/a.pyc", true),
            ("/p/target/.git/index", true),
            ("/p/target/a.py~", true),
        ] {
            assert_eq!(is_by_the_way(Path::new(path), place), expected, "{path}");
        }
    }
}
