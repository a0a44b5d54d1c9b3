//! Names the machine and the tools, so that numbers can be compared later.

use std::fs;
use std::process::Command;

use crate::process::Cores;
use crate::report::Version;
use crate::subject::first_line;

/// The processor, its cores, the memory, the kernel, and how busy all of it is, in one line.
pub(crate) fn describe(cores: Cores) -> String {
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let online = fs::read_to_string("/proc/cpuinfo")
        .unwrap_or_default()
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.strip_suffix(" kB")?.parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes >> 20);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "{processor}, {online} cores, {memory} GiB, Linux {}; server on core {}, load generator on core {}; \
         load average {} before the first run",
        kernel.trim(),
        cores.server,
        cores.load,
        load.split(' ').next().unwrap_or_default()
    )
}

/// The tools and the state of the source that the numbers depend on, as far as they can be told.
pub(crate) fn versions() -> Vec<Version> {
    let rustc = first_line(Command::new("rustc").arg("--version"));
    let commit = first_line(Command::new("git").args(["describe", "--always", "--dirty"]));
    [("commit", commit), ("compiler", rustc)]
        .into_iter()
        .filter_map(|(name, version)| Some(Version { name: name.to_owned(), version: version.ok()? }))
        .filter(|version| !version.version.is_empty())
        .collect()
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    })
}
