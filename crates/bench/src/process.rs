//! Subjects as child processes: pinned to a core, measured from outside, ended when dropped.
//!
//! Depends on the operating system only (Linux).

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// The line by which a subject says that it listens.
pub(crate) const READY: &str = "ready";

/// Which core serves and which one loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cores {
    /// The core of every subject.
    pub(crate) server: usize,
    /// The core of the load generator.
    pub(crate) load: usize,
}

impl Cores {
    /// The first two cores that this process may use; the same one twice where it has one only.
    ///
    /// # Errors
    /// When the system does not tell.
    pub(crate) fn pick() -> io::Result<Self> {
        let allowed = sched_getaffinity(Pid::from_raw(0))?;
        let mut cores = (0..CpuSet::count()).filter(|&core| allowed.is_set(core).unwrap_or(false));
        let server = cores.next().unwrap_or(0);
        let load = cores.next().unwrap_or(server);
        Ok(Self { server, load })
    }

    /// Pins the calling thread, and what it starts from now on, to one core.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn pin(core: usize) -> io::Result<()> {
        let mut set = CpuSet::new();
        set.set(core)?;
        Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
    }
}

/// Allows as many open files as the system gives at most, for this process and its children.
///
/// # Errors
/// When the system refuses.
pub(crate) fn raise_file_limit() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}

/// An address of this machine that nothing listens on.
///
/// # Errors
/// When the system has none left.
pub(crate) fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// CPU time that the calling thread has used.
///
/// # Errors
/// When the system does not tell.
pub(crate) fn own_cpu_time() -> io::Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

/// A running subject.
#[derive(Debug)]
pub(crate) struct Subprocess {
    child: Child,
    cpu_clock: ClockId,
}

impl Subprocess {
    /// Starts a subject on the server's core and waits until it prints [`READY`].
    ///
    /// # Errors
    /// When it cannot be started or ends before it is ready.
    pub(crate) fn start(mut command: Command, cores: Cores) -> io::Result<Self> {
        Cores::pin(cores.server)?;
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        Cores::pin(cores.load)?;
        let mut child = child?;
        let output = child.stdout.take();
        let pid = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
        let subprocess = Self { child, cpu_clock: clock_getcpuclockid(pid)? };
        for line in BufReader::new(output.ok_or(io::ErrorKind::BrokenPipe)?).lines() {
            if line? == READY {
                return Ok(subprocess);
            }
        }
        Err(io::Error::other("it ended before it was ready"))
    }

    /// CPU time that the process has used so far, user and kernel, all threads, also those
    /// that have ended.
    ///
    /// # Errors
    /// When the process is gone.
    pub(crate) fn cpu_time(&self) -> io::Result<Duration> {
        Ok(clock_gettime(self.cpu_clock)?.into())
    }

    /// Bytes of resident memory that belong to the process alone: heap, stacks and the like,
    /// without the pages of its files.
    ///
    /// # Errors
    /// When the process is gone.
    pub(crate) fn anonymous_memory(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        anonymous_memory(&status).ok_or_else(|| io::Error::other("no `RssAnon` in its status"))
    }
}

impl Drop for Subprocess {
    fn drop(&mut self) {
        // Both fail only where the process has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn anonymous_memory(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_status_of_a_process() {
        let status = "VmRSS:\t    9216 kB\nRssAnon:\t    4096 kB\nRssFile:\t    5120 kB\n";
        assert_eq!(anonymous_memory(status), Some(4 << 20));
        assert_eq!(anonymous_memory("VmRSS:\t 9216 kB\n"), None);
    }

    #[test]
    fn a_subject_that_ends_early_is_an_error() {
        let cores = Cores::pick().unwrap();
        let error = Subprocess::start(Command::new("true"), cores).unwrap_err();
        assert!(error.to_string().contains("before it was ready"), "{error}");
    }
}
