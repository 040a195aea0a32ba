//! The servers of the settings, put together as one upstream.

mod remembered;
mod watching;

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use forebay_proxy::{
    router::{Names, Prefix, Router, UpstreamName},
    upstream::{Command, GroupSettings, MemberSettings, Plan, RemoteSettings, Sharing, Way},
};
use forebay_tools::{Exposure, Tool};
use http::{HeaderMap, HeaderName, HeaderValue};

use self::remembered::brief_hash;
pub(crate) use self::{
    remembered::{Remembered, Sighting},
    watching::Watched,
};
use crate::{
    auth,
    config::{
        self, Config,
        servers::{Server, Start, Way as Written},
    },
    trust,
};

/// How long a call may go unheard of, if nothing else is said.
const CALL_TIMEOUT: Duration = Duration::from_secs(600);
/// How long a server may take until it can be asked something: the first start of some downloads them.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Many servers as one.
pub(crate) struct Gateway {
    pub(crate) router: Router,
    pub(crate) group: Arc<GroupSettings>,
}

impl Gateway {
    /// The servers that the settings name, but for those that are not to be started. What holds for their
    /// results goes into the settings of all.
    pub(crate) fn of(config: &mut Config) -> Result<Self> {
        let plans = plans(config)?;
        for server in &config.servers {
            config.policy.servers.insert(server.name.clone(), server.keeping.clone());
            config.paging.servers.insert(server.name.clone(), server.paging.clone());
        }
        let (separator, prefix) = (config.gateway.separator.clone(), config.gateway.prefix);
        let upstreams = plans.iter().map(|plan| plan.settings.name.clone()).collect();
        let names = Arc::new(Names::new(separator, prefix, upstreams));
        let router = Router::group(UpstreamName::new("forebay"), names.clone());
        let router = match config.gateway.exposure() {
            Exposure::All => router,
            Exposure::Search | Exposure::Past(_) => {
                router.through(&config.offer.name_of(Tool::Call))
            }
        };
        let remembered = Arc::new(Remembered::new(&config.persist_location));
        let group = Arc::new(GroupSettings::new(names, plans, Some(remembered)));
        Ok(Self { router, group })
    }
}

/// One server, which is started anew when something below `watch` changes. To clients it is alone.
pub(crate) fn watched(
    name: UpstreamName,
    command: Command,
    watch: Vec<PathBuf>,
) -> Result<(Router, Arc<GroupSettings>)> {
    let settings = MemberSettings {
        name: name.clone(),
        is_lazy: false,
        call_timeout: CALL_TIMEOUT,
        start_timeout: START_TIMEOUT,
        offers: Arc::new(|_| true),
    };
    let (way, key) = (Way::Command(command), String::new());
    let (fingerprint, sharing) = (String::new(), Sharing::Apart);
    let plan = Plan { settings, way, key, fingerprint, sharing };
    let names = Names::new("__".to_owned(), Prefix::WhereNeeded, vec![name.clone()]);
    let names = Arc::new(names);
    let group = Arc::new(GroupSettings::new(names.clone(), vec![plan], None));
    watching::watch_one(&name, watch, group.clone())?;
    Ok((Router::group(name, names), group))
}

/// How the servers of the settings are reached, in their order.
fn plans(config: &Config) -> Result<Vec<Plan>> {
    let servers = config.servers.iter().filter(|server| server.is_enabled);
    let plan = |server: &Server| {
        let name = UpstreamName::new(server.name.as_str());
        let way = way(server, &name, config).with_context(|| format!("server `{name}`"))?;
        let (key, fingerprint) = (Remembered::key(server), brief_hash(&format!("{server:?}")));
        let (settings, sharing) = (settings(server.clone(), name), server.sharing);
        Ok(Plan { settings, way, key, fingerprint, sharing })
    };
    servers.map(plan).collect()
}

fn settings(server: Server, name: UpstreamName) -> MemberSettings {
    let Server { allow, deny, .. } = server;
    let offers = move |tool: &str| {
        let is_allowed = allow.is_empty() || allow.iter().any(|pattern| pattern.matches(tool));
        is_allowed && !deny.iter().any(|pattern| pattern.matches(tool))
    };
    MemberSettings {
        name,
        is_lazy: server.start == Start::Lazy,
        call_timeout: server.call_timeout.unwrap_or(CALL_TIMEOUT),
        start_timeout: server.start_timeout.unwrap_or(START_TIMEOUT),
        offers: Arc::new(offers),
    }
}

fn way(server: &Server, name: &UpstreamName, config: &Config) -> Result<Way> {
    if !server.lacks.is_empty() {
        return Ok(Way::Never(server.lacks.join("; ")));
    }
    Ok(match server.way.clone() {
        Written::Command { program, arguments, environment, directory } => Way::Command(Command {
            program: program.into(),
            arguments: arguments.into_iter().map(OsString::from).collect(),
            environment: environment.into_iter().map(|(k, v)| (k.into(), v.into())).collect(),
            directory,
        }),
        Written::Url { url, headers, ca_file } => {
            let trusted = trust::authorities(ca_file.as_deref().or(config.ca_file.as_deref()))?;
            let credentials = Some(auth::stored(&config::home()?, &url, &trusted)?);
            let headers = headers
                .into_iter()
                .map(|(name, value)| {
                    Ok((name.parse::<HeaderName>()?, value.parse::<HeaderValue>()?))
                })
                .collect::<Result<HeaderMap>>()?;
            let name = name.clone();
            Way::Remote(Box::new(RemoteSettings { name, url, headers, credentials, trusted }))
        }
    })
}
