//! `polywire-bench`: measures polywire and its peers on the contract of TSRPC's published
//! benchmark.
//!
//! May depend on the facade `polywire`, as an application does; nothing depends on it. The load
//! generator and the floor share no code with what they measure.

mod clock;
mod contract;
mod floor;
mod frame;
mod handshake;
mod load;
mod machine;
mod ours;
mod process;
mod report;
mod scenario;
mod stats;
mod subject;
mod suite;

use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use load::Mode;

#[derive(Debug, Parser)]
#[command(about = "Measures polywire and its peers side by side.")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Measures the contract of TSRPC's published benchmark.
    Tsrpc(TsrpcArguments),
    /// Renders a result as Markdown.
    Report {
        /// What `--json` has written.
        file: PathBuf,
    },
    /// Serves the contract; how the other commands start the subjects of this program.
    Serve {
        /// The subject.
        subject: String,
        /// The port of 127.0.0.1.
        #[arg(long)]
        port: u16,
        /// Send `Chat` to every connection on every request.
        #[arg(long)]
        broadcast: bool,
    },
}

#[derive(Debug, Args)]
struct TsrpcArguments {
    /// Write the results to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Two repeats of 2,000 requests, to see that everything works.
    #[arg(long)]
    quick: bool,
    /// How often everything is repeated [default: 5].
    #[arg(long, value_name = "N")]
    runs: Option<usize>,
    /// Requests per measured window [default: 10000].
    #[arg(long, value_name = "N")]
    requests: Option<usize>,
    /// Only scenarios with this word in their name, such as `broadcast`, `20x200`, `json`,
    /// `per-request`; repeat it to demand several.
    #[arg(long, value_name = "WORD")]
    filter: Vec<String>,
    /// Only this subject; repeat it for several.
    #[arg(long, value_name = "NAME")]
    subject: Vec<String>,
}

fn main() -> ExitCode {
    match carry_out(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("polywire-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn carry_out(task: Task) -> Result<ExitCode, Box<dyn Error>> {
    match task {
        Task::Tsrpc(arguments) => return tsrpc(arguments),
        Task::Report { file } => {
            let document = serde_json::from_slice(&fs::read(file)?)?;
            print!("{}", report::markdown(&document));
        }
        Task::Serve { subject, port, broadcast } => {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let mode = if broadcast { Mode::Broadcast } else { Mode::Calls };
            match &*subject {
                subject::OURS => ours::serve(address, mode, say_ready)?,
                "floor" => floor::serve(address, mode, say_ready)?,
                other => return Err(format!("no subject `{other}` to serve").into()),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn tsrpc(arguments: TsrpcArguments) -> Result<ExitCode, Box<dyn Error>> {
    let (runs, requests) = if arguments.quick { (2, 2_000) } else { (5, 10_000) };
    let options = suite::Options {
        command: command_line(),
        repeats: arguments.runs.unwrap_or(runs).max(1),
        requests: arguments.requests.unwrap_or(requests).max(1),
        filter: arguments.filter,
        subjects: arguments.subject,
    };
    let document = suite::run(&options)?;
    println!("Times are in milliseconds. `floor` is a server that frames, parses and answers, nothing else.");
    println!("BENCHMARKS.md says how to read the tables; `--quick` only shows that everything works.\n");
    print!("{}", report::tables(&document));
    for skipped in &document.run.skipped {
        println!("skipped: {} ({})", skipped.subject, skipped.reason);
    }
    for problem in &document.run.problems {
        println!("went wrong: {problem}");
    }
    if let Some(file) = arguments.json {
        fs::write(file, serde_json::to_string_pretty(&document)? + "\n")?;
    }
    Ok(if document.run.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The command that a reader can repeat.
fn command_line() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("cargo run --release -p polywire-bench -- {}", arguments.join(" "))
}

fn say_ready() {
    let mut out = io::stdout();
    // Whoever started this subject waits for the line; if nobody does, it does not matter.
    drop(writeln!(out, "{}", process::READY).and_then(|()| out.flush()));
}
