//! The servers of the settings, put together as one upstream.

mod remembered;

use std::{ffi::OsString, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use forebay_proxy::{
    router::{Names, Router, UpstreamName},
    upstream::{Command, GroupSettings, MemberSettings, Plan, RemoteSettings, Way},
};
use http::{HeaderMap, HeaderName, HeaderValue};

pub(crate) use self::remembered::Remembered;
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
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Many servers as one.
pub(crate) struct Gateway {
    pub(crate) router: Router,
    pub(crate) group: Arc<GroupSettings>,
    pub(crate) remembered: Arc<Remembered>,
}

impl Gateway {
    /// The servers that the settings name, but for those that are not to be started. What holds for their
    /// results goes into the settings of all.
    pub(crate) fn of(config: &mut Config) -> Result<Self> {
        let servers: Vec<Server> =
            config.servers.iter().filter(|server| server.is_enabled).cloned().collect();
        let upstreams: Vec<UpstreamName> =
            servers.iter().map(|server| UpstreamName::new(server.name.as_str())).collect();
        let remembered = Arc::new(Remembered::new(&config.persist_location, &servers));
        let mut plans = Vec::new();
        for (server, name) in servers.into_iter().zip(&upstreams) {
            config.policy.servers.insert(server.name.clone(), server.keeping.clone());
            let way =
                way(&server, name, config).with_context(|| format!("server `{}`", server.name))?;
            plans.push(Plan { settings: settings(server, name.clone()), way });
        }
        let (separator, prefix) = (config.gateway.separator.clone(), config.gateway.prefix);
        let names = Arc::new(Names::new(separator, prefix, upstreams));
        let router = Router::group(UpstreamName::new("forebay"), names.clone());
        let group = GroupSettings { names, plans, memory: Some(remembered.clone()) };
        Ok(Self { router, group: Arc::new(group), remembered })
    }
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
