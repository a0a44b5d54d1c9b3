//! Results for people: the published table, and BENCHMARKS.md around it.
//!
//! Everything comes from the [`Document`], so that an old run can be rendered again.

use std::fmt::Write as _;

use super::{Document, Metric, Ratio, Row};
use crate::subject::{OURS, SUBJECTS};

/// A promise of the project that the document shows kept or broken.
struct Target {
    scenario: &'static str,
    promise: Promise,
}

enum Promise {
    /// Ours uses at least so many times less server CPU per request than this peer.
    CheaperThan(&'static str, f64),
    /// Ours stays at or below this.
    AtMost(Metric, f64),
}

const TARGETS: [Target; 6] = [
    Target { scenario: "calls 1x200 json pipelined", promise: Promise::CheaperThan("npm-tsrpc", 20.0) },
    Target { scenario: "calls 1x200 binary pipelined", promise: Promise::CheaperThan("npm-tsrpc", 20.0) },
    Target { scenario: "broadcast 20x200 json pipelined", promise: Promise::CheaperThan("npm-tsrpc", 40.0) },
    Target { scenario: "broadcast 20x200 binary pipelined", promise: Promise::CheaperThan("npm-tsrpc", 40.0) },
    Target {
        scenario: "idle-connections 2000 json after-call",
        promise: Promise::AtMost(Metric::RssBytesPerConnection, 8192.0),
    },
    Target {
        scenario: "idle-connections 2000 binary after-call",
        promise: Promise::AtMost(Metric::RssBytesPerConnection, 8192.0),
    },
];

/// All tables of a document.
pub(crate) fn tables(document: &Document) -> String {
    let mut out = String::new();
    let mut rest = &document.rows[..];
    while let Some(first) = rest.first() {
        let group = group_of(&first.scenario);
        let len = rest.iter().take_while(|row| group_of(&row.scenario) == group).count();
        let (rows, behind) = rest.split_at(len);
        rest = behind;
        let (what, encoding) = group;
        let _ = writeln!(out, "### {what}, {encoding}\n");
        let lines = match what {
            "idle-connections" => idle_lines(document, rows),
            _ => load_lines(document, rows),
        };
        out.push_str(&align(&lines));
        out.push('\n');
    }
    out
}

/// BENCHMARKS.md.
pub(crate) fn markdown(document: &Document) -> String {
    let run = &document.run;
    let mut out = String::from(INTRODUCTION);
    let mut say = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = out.write_fmt(text);
    };
    say(format_args!("## Where the numbers come from\n\n"));
    say(format_args!("- Command: `{}`\n", run.command));
    say(format_args!("- Machine: {}\n", run.machine));
    say(format_args!(
        "- {} requests per measured window after a warm-up on the same connections; \
         medians of {} interleaved repeats\n",
        run.requests, run.repeats
    ));
    for version in &run.versions {
        let about = SUBJECTS
            .iter()
            .find(|subject| subject.name == version.name)
            .map(|subject| format!(" ({})", subject.about))
            .unwrap_or_default();
        say(format_args!("- {}: {}{about}\n", version.name, version.version));
    }
    for skipped in &run.skipped {
        say(format_args!("- skipped: {} ({})\n", skipped.subject, skipped.reason));
    }
    for problem in &run.problems {
        say(format_args!("- went wrong: {problem}\n"));
    }
    let targets = target_lines(document);
    if targets.len() > 1 {
        say(format_args!("\n## Targets\n\n{}", align(&targets)));
    }
    say(format_args!("\n## Tables\n\n{}", tables(document).trim_end()));
    out.push('\n');
    out
}

const INTRODUCTION: &str = "\
# Benchmarks

The contract is that of TSRPC's published benchmark: an API `Send` (`{content: string}` →
`{time: Date}`) and a message `Chat` (`{content: string, time: Date}`) over WebSocket, in JSON
and in TSBuffer's binary form. `calls` answers only; `broadcast` also sends `Chat` to every
connection on every request, and every delivery is counted. `20x200` is 20 connections with 200
requests in flight altogether, 10 on each.

The server has one core to itself, the load generator (`crates/bench`) another. A `pipelined`
client writes all requests that one read made room for at once; a `per-request` client writes
each request by itself, as the npm package `tsrpc` does. **Server CPU µs per request** is the
number to trust: rates and latencies depend on what else the machine does, which its load average
below tells. The last column says how many times less CPU ours needs than the subject of that row.

This file is made by `cargo run --release -p polywire-bench -- report FILE.json > BENCHMARKS.md`.

";

/// The first and the third word of a scenario's name: what is measured, and the encoding.
fn group_of(scenario: &str) -> (&str, &str) {
    let [what, _, encoding, _] = words(scenario);
    (what, encoding)
}

fn words(scenario: &str) -> [&str; 4] {
    let mut words = scenario.splitn(4, ' ');
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

fn load_lines(document: &Document, rows: &[Row]) -> Vec<Vec<String>> {
    let mut lines = vec![
        [
            "clients x in flight",
            "client",
            "subject",
            "QPS",
            "average ms",
            "P50",
            "P90",
            "P99",
            "errors",
            "server CPU µs/request",
            "ours better by",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for (scenario, subject) in pairs(rows) {
        let value = |metric| median(rows, scenario, subject, metric);
        let [_, shape, _, client] = words(scenario);
        lines.push(vec![
            shape.to_owned(),
            client.to_owned(),
            subject.to_owned(),
            number(value(Metric::Qps)),
            number(value(Metric::AverageMs)),
            number(value(Metric::P50Ms)),
            number(value(Metric::P90Ms)),
            number(value(Metric::P99Ms)),
            errors(rows, scenario, subject),
            number(value(Metric::ServerCpuUsPerRequest)),
            times(ratio(document, scenario, subject, Metric::ServerCpuUsPerRequest)),
        ]);
    }
    lines
}

fn idle_lines(document: &Document, rows: &[Row]) -> Vec<Vec<String>> {
    let mut lines =
        vec![["connections", "idle", "subject", "bytes each", "ours better by"].map(str::to_owned).to_vec()];
    let metric = Metric::RssBytesPerConnection;
    for (scenario, subject) in pairs(rows) {
        let [_, connections, _, after] = words(scenario);
        lines.push(vec![
            connections.to_owned(),
            after.to_owned(),
            subject.to_owned(),
            number(median(rows, scenario, subject, metric)),
            times(ratio(document, scenario, subject, metric)),
        ]);
    }
    lines
}

fn target_lines(document: &Document) -> Vec<Vec<String>> {
    let mut lines = vec![["scenario", "target", "measured", ""].map(str::to_owned).to_vec()];
    for Target { scenario, promise } in &TARGETS {
        let (target, measured, kept) = match *promise {
            Promise::CheaperThan(peer, least) => {
                let metric = Metric::ServerCpuUsPerRequest;
                let Some(ratio) = ratio(document, scenario, peer, metric) else {
                    continue;
                };
                let target = format!("{}× less server CPU than {peer}", number(Some(least)));
                (target, times(Some(ratio)), ratio >= least)
            }
            Promise::AtMost(metric, most) => {
                let Some(value) = median(&document.rows, scenario, OURS, metric) else {
                    continue;
                };
                let target = format!("at most {} bytes each", number(Some(most)));
                (target, number(Some(value)), value <= most)
            }
        };
        let verdict = if kept { "met" } else { "**missed**" };
        lines.push(vec![(*scenario).to_owned(), target, measured, verdict.to_owned()]);
    }
    lines
}

/// Scenario and subject of every line of a table, in the order of the rows.
fn pairs(rows: &[Row]) -> Vec<(&str, &str)> {
    let mut pairs: Vec<(&str, &str)> = rows.iter().map(|row| (&*row.scenario, &*row.subject)).collect();
    pairs.dedup();
    pairs
}

fn median(rows: &[Row], scenario: &str, subject: &str, metric: Metric) -> Option<f64> {
    find(rows, scenario, subject, metric).map(|row| row.median)
}

fn find<'a>(rows: &'a [Row], scenario: &str, subject: &str, metric: Metric) -> Option<&'a Row> {
    rows.iter().find(|row| row.scenario == scenario && row.subject == subject && row.metric == metric)
}

/// Of the worst repeat, since one bad run of five must not hide behind the median.
fn errors(rows: &[Row], scenario: &str, subject: &str) -> String {
    find(rows, scenario, subject, Metric::Errors).map_or_else(|| NOTHING.to_owned(), |row| format!("{:.0}", row.max))
}

fn ratio(document: &Document, scenario: &str, peer: &str, metric: Metric) -> Option<f64> {
    let is_wanted = |ratio: &&Ratio| ratio.scenario == scenario && ratio.ours_over == peer && ratio.metric == metric;
    document.ratios.iter().find(is_wanted).map(|ratio| ratio.ratio)
}

/// In place of a number that no run gave.
const NOTHING: &str = "–";

/// Three significant digits or, from a thousand on, whole numbers in groups of three.
fn number(value: Option<f64>) -> String {
    let Some(value) = value else {
        return NOTHING.to_owned();
    };
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = match value.abs() {
        small if small < 0.1 => 4,
        small if small < 1.0 => 3,
        small if small < 10.0 => 2,
        small if small < 100.0 => 1,
        _ => 0,
    };
    let plain = format!("{value:.decimals$}");
    if decimals > 0 {
        return plain;
    }
    let mut grouped = String::new();
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index) % 3 == 0 && digit.is_ascii_digit() {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| format!("{}×", number(Some(ratio))))
}

/// A Markdown table whose columns line up in a terminal, too.
fn align(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        for (cell, &width) in line.iter().zip(&widths) {
            let _ = write!(out, "| {cell:<width$} ");
        }
        out.push_str("|\n");
        if index == 0 {
            for &width in &widths {
                let _ = write!(out, "|{}", "-".repeat(width + 2));
            }
            out.push_str("|\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Run, Version};

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (0.0123, "0.0123"),
            (0.2444, "0.244"),
            (2.0449, "2.04"),
            (15.26, "15.3"),
            (457.4, "457"),
            (1000.0, "1,000"),
            (1_234_567.8, "1,234,568"),
        ] {
            assert_eq!(number(Some(value)), expected);
        }
        assert_eq!(number(None), "–");
    }

    fn row(scenario: &str, subject: &str, metric: Metric, median: f64) -> Row {
        Row {
            scenario: scenario.to_owned(),
            subject: subject.to_owned(),
            metric,
            median,
            min: median,
            max: median,
            runs: 5,
        }
    }

    fn document() -> Document {
        let calls = "calls 1x200 json pipelined";
        let idle = "idle-connections 2000 json after-call";
        Document {
            suite: "tsrpc".to_owned(),
            rows: vec![
                row(calls, OURS, Metric::Qps, 1_500_000.0),
                row(calls, OURS, Metric::ServerCpuUsPerRequest, 0.5),
                row(calls, "npm-tsrpc", Metric::Errors, 3.0),
                row(idle, OURS, Metric::RssBytesPerConnection, 9000.0),
            ],
            ratios: vec![Ratio {
                scenario: calls.to_owned(),
                metric: Metric::ServerCpuUsPerRequest,
                ours_over: "npm-tsrpc".to_owned(),
                ratio: 30.0,
            }],
            run: Run {
                command: "polywire-bench tsrpc".to_owned(),
                machine: "a machine".to_owned(),
                requests: 10_000,
                repeats: 5,
                versions: vec![Version { name: "npm-tsrpc".to_owned(), version: "tsrpc 3.4.21".to_owned() }],
                skipped: vec![],
                problems: vec!["npm-tsrpc fell over".to_owned()],
            },
        }
    }

    #[test]
    fn a_table_has_a_line_for_every_subject() {
        let text = tables(&document());
        let lines: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.starts_with("| "))
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        assert_eq!(lines[1][..4], ["1x200", "pipelined", OURS, "1,500,000"]);
        assert_eq!(lines[1][9..], ["0.500", ""]);
        assert_eq!(lines[2][2..4], ["npm-tsrpc", "–"], "a spoilt run has no rate");
        assert_eq!(lines[2][8..], ["3", "–", "30.0×"]);
        assert_eq!(lines[4], ["2000", "after-call", OURS, "9,000", ""]);
    }

    #[test]
    fn the_document_says_which_targets_are_met() {
        let text = markdown(&document());
        for expected in [
            "- npm-tsrpc: tsrpc 3.4.21 (the npm package",
            "- went wrong: npm-tsrpc fell over",
            "30.0×    | met",
            "9,000    | **missed**",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }
}
