//! The suite `tsrpc`: runs every scenario on every subject, interleaved, and sums up.
//!
//! A repeat measures all subjects side by side, one after the other within each scenario, so
//! that a ratio compares neighbours in time. Every repeat has fresh processes.

use std::io;
use std::time::Duration;

use crate::contract::Encoding;
use crate::load::{ClientKind, Fleet, Mode, Plan};
use crate::machine;
use crate::process::{Cores, Subprocess, free_address, own_cpu_time, raise_file_limit};
use crate::report::{Document, Metric, Ratio, Row, Run, Skipped, Version};
use crate::scenario::{self, After, Scenario, Shape};
use crate::stats::{Latency, Summary, median_ratio};
use crate::subject::{OURS, SUBJECTS, Subject};

/// What the command line decides.
#[derive(Debug)]
pub(crate) struct Options {
    /// The command itself, for the report.
    pub(crate) command: String,
    /// How often everything is repeated.
    pub(crate) repeats: usize,
    /// Requests per measured window.
    pub(crate) requests: usize,
    /// Words that a scenario's name must have.
    pub(crate) filter: Vec<String>,
    /// Subjects to measure; all if empty.
    pub(crate) subjects: Vec<String>,
}

/// Requests that a fresh process answers on one connection before anything is measured, in
/// each encoding: Node compiles what it runs often.
const PROCESS_WARM_UP: usize = 10_000;

/// Connections that are open before idle ones are counted, so that what the server allocates
/// once is not counted with them.
const IDLE_WARM_UP: usize = 200;

/// Runs the suite. Progress goes to standard error.
///
/// # Errors
/// When this machine cannot pin, measure or connect. What goes wrong with one subject stands
/// in the document.
pub(crate) fn run(options: &Options) -> io::Result<Document> {
    let cores = Cores::pick()?;
    raise_file_limit()?;

    let machine = machine::describe(cores);
    let mut versions = machine::versions();
    let mut skipped = Vec::new();
    let mut subjects = Vec::new();
    for subject in SUBJECTS {
        let is_wanted = options.subjects.iter().any(|name| name == subject.name);
        if !options.subjects.is_empty() && !is_wanted {
            continue;
        }
        eprintln!("preparing {} (the first time may take minutes)", subject.name);
        match subject.install() {
            Ok(version) => {
                versions.push(Version { name: subject.name.to_owned(), version });
                subjects.push(subject);
            }
            Err(reason) => {
                eprintln!("skipped: {} ({reason})", subject.name);
                skipped.push(Skipped { subject: subject.name.to_owned(), reason });
            }
        }
    }
    let scenarios: Vec<Scenario> =
        scenario::all().into_iter().filter(|scenario| scenario::matches(&scenario.name(), &options.filter)).collect();

    // Not before: what prepares the subjects may use every core.
    Cores::pin(cores.load)?;
    let mut results = Results::new(&scenarios, &subjects);
    for repeat in 0..options.repeats {
        eprintln!("repeat {} of {}", repeat + 1, options.repeats);
        Repeat { cores, requests: options.requests, first: repeat, results: &mut results }.measure()?;
    }
    let (rows, ratios) = (results.rows(), results.ratios());
    Ok(Document {
        suite: "tsrpc".to_owned(),
        rows,
        ratios,
        run: Run {
            command: options.command.clone(),
            machine,
            requests: options.requests,
            repeats: options.repeats,
            versions,
            skipped,
            problems: results.problems,
        },
    })
}

/// The numbers of one run, or how many errors spoilt it.
type Measurement = Vec<(Metric, f64)>;

struct Results<'a> {
    scenarios: &'a [Scenario],
    subjects: &'a [&'static Subject],
    /// By scenario, subject and repeat.
    measurements: Vec<Vec<Vec<Measurement>>>,
    problems: Vec<String>,
}

impl<'a> Results<'a> {
    fn new(scenarios: &'a [Scenario], subjects: &'a [&'static Subject]) -> Self {
        Self {
            scenarios,
            subjects,
            measurements: vec![vec![Vec::new(); subjects.len()]; scenarios.len()],
            problems: Vec::new(),
        }
    }

    /// One metric of every repeat.
    fn series(&self, scenario: usize, subject: usize, metric: Metric) -> Vec<Option<f64>> {
        let value = |measurement: &Measurement| {
            let found = measurement.iter().find(|(other, _)| *other == metric);
            found.map(|&(_, value)| value)
        };
        self.measurements[scenario][subject].iter().map(value).collect()
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, scenario) in self.scenarios.iter().enumerate() {
            for (which, subject) in self.subjects.iter().enumerate() {
                for metric in Metric::ALL {
                    let values = self.series(at, which, metric).into_iter().flatten();
                    let Some(summary) = Summary::of(values) else {
                        continue;
                    };
                    rows.push(Row {
                        scenario: scenario.name(),
                        subject: subject.name.to_owned(),
                        metric,
                        median: summary.median,
                        min: summary.min,
                        max: summary.max,
                        runs: summary.runs,
                    });
                }
            }
        }
        rows
    }

    fn ratios(&self) -> Vec<Ratio> {
        let Some(ours) = self.subjects.iter().position(|subject| subject.name == OURS) else {
            return Vec::new();
        };
        let mut ratios = Vec::new();
        for (at, scenario) in self.scenarios.iter().enumerate() {
            for (which, peer) in self.subjects.iter().enumerate() {
                if which == ours {
                    continue;
                }
                for metric in Metric::ALL {
                    let ratio = metric.better().and_then(|better| {
                        let peer = self.series(at, which, metric);
                        median_ratio(&self.series(at, ours, metric), &peer, better)
                    });
                    ratios.extend(ratio.map(|ratio| Ratio {
                        scenario: scenario.name(),
                        metric,
                        ours_over: peer.name.to_owned(),
                        ratio,
                    }));
                }
            }
        }
        ratios
    }
}

struct Repeat<'a, 'b> {
    cores: Cores,
    requests: usize,
    /// The subject that comes first, so that none always follows the same neighbour.
    first: usize,
    results: &'a mut Results<'b>,
}

impl Repeat<'_, '_> {
    fn measure(&mut self) -> io::Result<()> {
        for mode in [Mode::Calls, Mode::Broadcast] {
            let mut servers: Vec<Option<Server>> = Vec::new();
            servers.resize_with(self.results.subjects.len(), || None);
            for at in 0..self.results.scenarios.len() {
                if self.results.scenarios[at].mode() != mode {
                    continue;
                }
                for turn in 0..servers.len() {
                    let which = (turn + self.first) % servers.len();
                    if !self.results.subjects[which].takes(self.results.scenarios[at].encoding()) {
                        continue;
                    }
                    self.measure_one(at, which, &mut servers[which])?;
                }
            }
        }
        Ok(())
    }

    fn measure_one(&mut self, at: usize, which: usize, server: &mut Option<Server>) -> io::Result<()> {
        let scenario = self.results.scenarios[at];
        let subject = self.results.subjects[which];
        let measured = match scenario {
            Scenario::Load { mode, shape, encoding, client } => {
                if server.is_none() {
                    *server = self.start(subject, mode)?;
                }
                server.as_ref().map(|server| {
                    let plan = Plan { in_flight: shape.in_flight, requests: self.requests, client, mode };
                    server.load(encoding, shape, &plan)
                })
            }
            Scenario::Idle { connections, encoding, after } => {
                // Memory is measured on a process that has done nothing else.
                let fresh = self.start(subject, Mode::Calls)?;
                fresh.map(|server| server.idle(encoding, connections, after))
            }
        };
        let (measurement, problem) = match measured {
            Some(Ok(measured)) => measured,
            Some(Err(error)) => (spoilt(self.requests as u64), Some(error.to_string())),
            None => (spoilt(self.requests as u64), Some("it did not start".to_owned())),
        };
        if let Some(problem) = problem {
            let problem = format!("{} on {}: {problem}", scenario.name(), subject.name);
            eprintln!("{problem}");
            self.results.problems.push(problem);
            // What is left of the process must not be measured again.
            *server = None;
        }
        self.results.measurements[at][which].push(measurement);
        Ok(())
    }

    fn start(&mut self, subject: &Subject, mode: Mode) -> io::Result<Option<Server>> {
        let address = free_address()?;
        let command = subject.command(address, mode)?;
        match Subprocess::start(command, self.cores) {
            Ok(process) => {
                let server = Server { address, process };
                server.warm_up(subject, mode)?;
                Ok(Some(server))
            }
            Err(error) => {
                let problem = format!("{} could not be started: {error}", subject.name);
                self.results.problems.push(problem);
                Ok(None)
            }
        }
    }
}

/// A subject that runs.
struct Server {
    address: std::net::SocketAddr,
    process: Subprocess,
}

impl Server {
    fn warm_up(&self, subject: &Subject, mode: Mode) -> io::Result<()> {
        for encoding in Encoding::ALL.into_iter().filter(|&encoding| subject.takes(encoding)) {
            let plan = Plan { in_flight: 50, requests: PROCESS_WARM_UP, client: ClientKind::Pipelined, mode };
            // What goes wrong here goes wrong again where it is counted.
            Fleet::connect(self.address, encoding, 1)?.run(&plan);
        }
        Ok(())
    }

    fn load(&self, encoding: Encoding, shape: Shape, plan: &Plan) -> io::Result<(Measurement, Option<String>)> {
        let mut fleet = Fleet::connect(self.address, encoding, shape.clients)?;
        let warm_up = fleet.run(&Plan { requests: plan.requests / 5, ..*plan });
        if warm_up.errors > 0 {
            return Ok((spoilt(warm_up.errors), warm_up.problem));
        }
        let (server_before, load_before) = (self.process.cpu_time()?, own_cpu_time()?);
        let mut outcome = fleet.run(plan);
        let (server_after, load_after) = (self.process.cpu_time()?, own_cpu_time()?);
        let latency = Latency::of(&mut outcome.latencies);
        let (0, Some(latency)) = (outcome.errors, latency) else {
            return Ok((spoilt(outcome.errors), outcome.problem));
        };
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let requests = plan.requests as f64;
        let per_request = |spent: Duration| spent.as_secs_f64() * 1e6 / requests;
        let measurement = vec![
            (Metric::Qps, requests / outcome.elapsed.as_secs_f64()),
            (Metric::AverageMs, latency.average / 1e6),
            (Metric::P50Ms, latency.p50 / 1e6),
            (Metric::P90Ms, latency.p90 / 1e6),
            (Metric::P99Ms, latency.p99 / 1e6),
            (Metric::Errors, 0.0),
            (Metric::ServerCpuUsPerRequest, per_request(server_after.saturating_sub(server_before))),
            (Metric::LoadCpuUsPerRequest, per_request(load_after.saturating_sub(load_before))),
        ];
        Ok((measurement, None))
    }

    fn idle(&self, encoding: Encoding, connections: usize, after: After) -> io::Result<(Measurement, Option<String>)> {
        let open = |connections: usize| -> io::Result<(Fleet, u64, Option<String>)> {
            let mut fleet = Fleet::connect(self.address, encoding, connections)?;
            let (errors, problem) = match after {
                After::Handshake => (0, None),
                After::Call => {
                    let outcome = fleet.run(&Plan {
                        in_flight: connections,
                        requests: connections,
                        client: ClientKind::Pipelined,
                        mode: Mode::Calls,
                    });
                    (outcome.errors, outcome.problem)
                }
            };
            Ok((fleet, errors, problem))
        };
        let _stays_open = open(IDLE_WARM_UP)?;
        let before = self.process.anonymous_memory()?;
        let (_stays_open_too, errors, problem) = open(connections)?;
        if errors > 0 {
            return Ok((spoilt(errors), problem));
        }
        let grown = self.process.anonymous_memory()?.saturating_sub(before);
        #[expect(clippy::cast_precision_loss, reason = "memory is far below 2^53 bytes")]
        let each = grown as f64 / connections as f64;
        let measurement = vec![(Metric::Errors, 0.0), (Metric::RssBytesPerConnection, each)];
        Ok((measurement, None))
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn spoilt(errors: u64) -> Measurement {
    vec![(Metric::Errors, errors as f64)]
}
