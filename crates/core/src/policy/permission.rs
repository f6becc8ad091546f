//! What a user may let tools do: levels, categories, lists, places and rates.
//!
//! A policy is checked for the tool that is really called, with the arguments that it is really called with, and by
//! the server alone: nothing that a model says or that a text contains changes it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::place::{host_fits, path_fits};
use crate::error::Detail;
use crate::tool::Risk;

words! {
    /// How far a tool reaches, weakest first. A user at one level may call tools of that level and below.
    #[derive(PartialOrd, Ord)]
    pub enum PermissionLevel {
        /// Nothing at all.
        None = "none",
        /// Looks.
        Read = "read",
        /// Changes what can be changed back.
        Write = "write",
        /// Runs things, or reaches people and systems that cannot be called back.
        Execute = "execute",
        /// Changes how the server itself works.
        Admin = "admin",
    }
}

words! {
    /// What a tool works on.
    #[derive(PartialOrd, Ord)]
    pub enum ToolCategory {
        /// Reads files and folders.
        FileRead = "file_read",
        /// Makes or changes files.
        FileWrite = "file_write",
        FileDelete = "file_delete",
        /// Runs code.
        CodeExecute = "code_execute",
        /// Fetches from the network.
        NetworkRead = "network_read",
        /// Sends to the network.
        NetworkWrite = "network_write",
        /// Runs commands of the operating system.
        System = "system",
        Memory = "memory",
        /// Everything else: the tools of plans and packs, and those that users bring.
        Custom = "custom",
    }
}

words! {
    /// How much happens without a person's yes.
    #[derive(PartialOrd, Ord)]
    pub enum Autonomy {
        /// Every call asks.
        None = "none",
        /// Calls that write ask.
        Low = "low",
        /// Calls that reach the outside, or cannot be undone, ask.
        Medium = "medium",
        /// Code, money and administration ask.
        High = "high",
        /// Nothing asks but what came from untrusted text.
        Full = "full",
    }
}

impl Autonomy {
    /// The lowest risk that asks; `None` when none does.
    #[must_use]
    pub const fn asks_from(self) -> Option<Risk> {
        match self {
            Self::None => Some(Risk::R0),
            Self::Low => Some(Risk::R1),
            Self::Medium => Some(Risk::R2),
            Self::High => Some(Risk::R3),
            Self::Full => None,
        }
    }
}

words! {
    /// Where what a user may do begins; with `role` their roles decide.
    #[cfg_attr(feature = "schema", schema(as = PermissionPreset))]
    pub enum Preset {
        /// What holds for whom nothing was said: looks, and changes nothing.
        ReadOnly = "read_only",
        /// Reads files and memories, and nothing else.
        Restrictive = "restrictive",
        /// Everything.
        Permissive = "permissive",
    }
}

/// The most entries of one list.
pub const MAX_ENTRIES: usize = 200;
/// The most characters of one entry.
pub const MAX_ENTRY: usize = 400;
/// Calls of all tools together that a user has in a minute when nobody says.
pub const CALLS_PER_MINUTE: u32 = 60;

/// What one user may let tools do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolPolicy {
    /// How far.
    pub level: PermissionLevel,
    pub categories: BTreeSet<ToolCategory>,
    /// Tools that may be called whatever their level and category are. Everything else is checked all the same.
    pub allowed_tools: BTreeSet<String>,
    /// Tools that may never be called. This goes before everything else.
    pub denied_tools: BTreeSet<String>,
    /// Folders in which file tools may work; `None` for every one that the tool itself allows.
    pub allowed_paths: Option<Vec<String>>,
    /// Hosts that network tools may reach, exact or as `*.example.com`; `None` for every one that egress allows.
    pub allowed_hosts: Option<Vec<String>>,
    /// How much happens without a yes.
    pub autonomy: Autonomy,
    /// Calls of all tools together within any minute; `None` for no limit.
    pub calls_per_minute: Option<u32>,
}

/// A call as a policy sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallFacts<'a> {
    /// The tool's key: of the tool that is really called, whatever name was used.
    pub tool: &'a str,
    /// What the call asks for.
    pub level: PermissionLevel,
    /// What it works on.
    pub category: ToolCategory,
    /// The paths that it names.
    pub paths: Vec<&'a str>,
    /// The hosts that it names, without ports.
    pub hosts: Vec<String>,
}

/// Why a policy does not let a call happen.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PolicyDenial {
    /// The tool is on the list.
    #[error("tool {0} is on the list of denied tools")]
    Listed(String),
    /// The level is too low.
    #[error("tool {tool} asks for level {asked:?} and the user has {has:?}", asked = .asked.as_str(), has = .has.as_str())]
    Level {
        tool: String,
        asked: PermissionLevel,
        /// What there is.
        has: PermissionLevel,
    },
    /// The category is not allowed.
    #[error("tool {tool} works on {category:?}, which is not among the user's categories", category = .category.as_str())]
    Category { tool: String, category: ToolCategory },
    /// A path lies outside of the allowed folders.
    #[error("tool {tool} may not touch {path:?}: it lies in none of the user's allowed folders")]
    Path {
        tool: String,
        /// The path as it was given.
        path: String,
    },
    /// A host is not on the list.
    #[error("tool {tool} may not reach {host:?}: it is not among the user's allowed hosts")]
    Host {
        tool: String,
        /// The host as it was given.
        host: String,
    },
}

impl ToolPolicy {
    /// A policy by its name.
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        match preset {
            Preset::ReadOnly => Self {
                level: PermissionLevel::Read,
                categories: [
                    ToolCategory::FileRead,
                    ToolCategory::NetworkRead,
                    ToolCategory::Memory,
                    ToolCategory::Custom,
                ]
                .into(),
                allowed_tools: BTreeSet::new(),
                denied_tools: BTreeSet::new(),
                allowed_paths: None,
                allowed_hosts: None,
                autonomy: Autonomy::Medium,
                calls_per_minute: Some(CALLS_PER_MINUTE),
            },
            Preset::Restrictive => Self {
                categories: [ToolCategory::FileRead, ToolCategory::Memory].into(),
                autonomy: Autonomy::Low,
                ..Self::preset(Preset::ReadOnly)
            },
            Preset::Permissive => Self {
                level: PermissionLevel::Admin,
                categories: ToolCategory::ALL.into(),
                autonomy: Autonomy::Full,
                calls_per_minute: None,
                ..Self::preset(Preset::ReadOnly)
            },
        }
    }

    /// Whether a call may happen at all. The order is: denied list, allowed list (which stands for level and category
    /// only), level, category, paths, hosts.
    ///
    /// # Errors
    /// The first thing that does not let it happen.
    pub fn permits(&self, call: &CallFacts<'_>) -> Result<(), PolicyDenial> {
        let tool = || call.tool.to_owned();
        if self.denied_tools.contains(call.tool) {
            return Err(PolicyDenial::Listed(tool()));
        }
        if !self.allowed_tools.contains(call.tool) {
            if self.level < call.level || self.level == PermissionLevel::None {
                return Err(PolicyDenial::Level { tool: tool(), asked: call.level, has: self.level });
            }
            if !self.categories.contains(&call.category) {
                return Err(PolicyDenial::Category { tool: tool(), category: call.category });
            }
        }
        if let Some(folders) = &self.allowed_paths
            && let Some(path) = call.paths.iter().find(|path| !folders.iter().any(|folder| path_fits(folder, path)))
        {
            return Err(PolicyDenial::Path { tool: tool(), path: (*path).to_owned() });
        }
        if let Some(hosts) = &self.allowed_hosts
            && let Some(host) = call.hosts.iter().find(|host| !hosts.iter().any(|rule| host_fits(rule, host)))
        {
            return Err(PolicyDenial::Host { tool: tool(), host: host.clone() });
        }
        Ok(())
    }

    /// Whether a call of that risk needs a person's yes.
    #[must_use]
    pub fn asks(&self, risk: Risk) -> bool {
        self.autonomy.asks_from().is_some_and(|lowest| risk >= lowest)
    }

    /// What is wrong with it: entries that are empty, too long or too many, folders that are no absolute path, hosts
    /// that are none.
    #[must_use]
    pub fn faults(&self) -> Vec<Detail> {
        let mut faults = Vec::new();
        let mut entries = |path: &str, entries: Vec<&String>| {
            if entries.len() > MAX_ENTRIES {
                faults.push(Detail::new(path, format!("at most {MAX_ENTRIES} entries")));
            }
            for (n, entry) in entries.into_iter().enumerate() {
                if entry.is_empty() || entry.chars().count() > MAX_ENTRY || entry.contains(char::is_control) {
                    faults.push(Detail::new(format!("{path}/{n}"), format!("one line of 1 to {MAX_ENTRY} characters")));
                }
            }
        };
        entries("/allowedTools", self.allowed_tools.iter().collect());
        entries("/deniedTools", self.denied_tools.iter().collect());
        entries("/allowedPaths", self.allowed_paths.iter().flatten().collect());
        entries("/allowedHosts", self.allowed_hosts.iter().flatten().collect());
        for (n, folder) in self.allowed_paths.iter().flatten().enumerate() {
            if !folder.starts_with('/') || folder.split('/').any(|part| part == "..") {
                let message = "a folder is an absolute path without .., for instance /srv/intake";
                faults.push(Detail::new(format!("/allowedPaths/{n}"), message));
            }
        }
        for (n, host) in self.allowed_hosts.iter().flatten().enumerate() {
            let name = host.strip_prefix("*.").unwrap_or(host);
            if name.is_empty() || name.contains(['*', '/', '@', ' ', '?', '#']) {
                let message = "a host is a name or an address without port, or *.example.com for all below a name";
                faults.push(Detail::new(format!("/allowedHosts/{n}"), message));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, level: PermissionLevel, category: ToolCategory) -> CallFacts<'_> {
        CallFacts { tool, level, category, paths: Vec::new(), hosts: Vec::new() }
    }

    #[test]
    fn whoever_was_told_nothing_may_look_and_change_nothing() {
        let policy = ToolPolicy::preset(Preset::ReadOnly);
        assert_eq!(policy.permits(&call("calculator", PermissionLevel::Read, ToolCategory::Custom)), Ok(()));
        let refused = policy.permits(&call("core.put_record", PermissionLevel::Write, ToolCategory::Custom));
        assert!(matches!(refused, Err(PolicyDenial::Level { .. })));
        let refused = policy.permits(&call("execute_shell", PermissionLevel::Read, ToolCategory::System));
        assert!(matches!(refused, Err(PolicyDenial::Category { .. })));
        let restrictive = ToolPolicy::preset(Preset::Restrictive);
        assert!(restrictive.permits(&call("calculator", PermissionLevel::Read, ToolCategory::Custom)).is_err());
        assert!(restrictive.permits(&call("read_file", PermissionLevel::Read, ToolCategory::FileRead)).is_ok());
    }

    #[test]
    fn every_level_covers_itself_and_what_is_below() {
        use PermissionLevel::{Admin, Execute, None, Read, Write};
        let levels = [None, Read, Write, Execute, Admin];
        for has in levels {
            for asked in levels {
                let policy = ToolPolicy { level: has, ..ToolPolicy::preset(Preset::Permissive) };
                let allowed = policy.permits(&call("t", asked, ToolCategory::Custom)).is_ok();
                assert_eq!(allowed, has >= asked && has != None, "{has:?} {asked:?}");
            }
        }
    }

    #[test]
    fn a_denied_tool_is_denied_to_everybody_and_an_allowed_one_still_keeps_its_place() {
        let mut policy = ToolPolicy::preset(Preset::ReadOnly);
        policy.allowed_tools.insert("http".to_owned());
        policy.allowed_hosts = Some(vec!["*.example.com".to_owned()]);
        policy.allowed_paths = Some(vec!["/data".to_owned()]);
        let mut facts = call("http", PermissionLevel::Execute, ToolCategory::NetworkWrite);
        assert_eq!(policy.permits(&facts), Ok(()), "the list stands for level and category");
        facts.hosts = vec!["api.example.com".to_owned()];
        facts.paths = vec!["/data/a.txt"];
        assert_eq!(policy.permits(&facts), Ok(()));
        facts.hosts = vec!["example.com.evil.test".to_owned()];
        assert!(matches!(policy.permits(&facts), Err(PolicyDenial::Host { .. })));
        facts.hosts.clear();
        facts.paths = vec!["/data-evil/a.txt"];
        assert!(matches!(policy.permits(&facts), Err(PolicyDenial::Path { .. })));
        policy.denied_tools.insert("http".to_owned());
        assert!(matches!(policy.permits(&facts), Err(PolicyDenial::Listed(_))), "and the denied list goes before all");
    }

    #[test]
    fn autonomy_names_the_lowest_risk_that_asks() {
        let risks = [Risk::R0, Risk::R1, Risk::R2, Risk::R3];
        for (autonomy, asking) in
            [(Autonomy::None, 4), (Autonomy::Low, 3), (Autonomy::Medium, 2), (Autonomy::High, 1), (Autonomy::Full, 0)]
        {
            let policy = ToolPolicy { autonomy, ..ToolPolicy::preset(Preset::Permissive) };
            assert_eq!(risks.iter().filter(|risk| policy.asks(**risk)).count(), asking, "{autonomy:?}");
        }
    }

    #[test]
    fn lists_that_cannot_mean_anything_are_named() {
        let mut policy = ToolPolicy::preset(Preset::ReadOnly);
        assert!(policy.faults().is_empty());
        policy.allowed_paths = Some(vec!["data".to_owned(), "/a/../b".to_owned(), "/fine".to_owned()]);
        policy.allowed_hosts = Some(vec!["*".to_owned(), "http://x".to_owned(), "*.example.com".to_owned()]);
        policy.allowed_tools.insert(String::new());
        let paths: Vec<String> = policy.faults().into_iter().map(|fault| fault.path).collect();
        let expected = ["/allowedTools/0", "/allowedPaths/0", "/allowedPaths/1", "/allowedHosts/0", "/allowedHosts/1"];
        assert_eq!(paths, expected);
    }
}
