//! Names the machine and the tools, so that numbers can be compared later.

use std::fs;
use std::process::Command;

use crate::process::Cores;
use crate::report::Version;
use crate::subject::first_line;

/// The processor, its cores, the memory and the kernel, in one line.
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
    format!(
        "{processor}, {online} cores, {memory} GiB, Linux {}; server on core {}, load generator \
         on core {}",
        kernel.trim(),
        cores.server,
        cores.load
    )
}

/// The tools that the numbers depend on.
pub(crate) fn versions() -> Vec<Version> {
    let rustc = first_line(Command::new("rustc").arg("--version"));
    rustc
        .into_iter()
        .map(|version| Version { name: "rustc".to_owned(), version: version.trim_start_matches("rustc ").to_owned() })
        .collect()
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    })
}
