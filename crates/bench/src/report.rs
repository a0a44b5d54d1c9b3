//! Results as JSON: what `--json` writes and `report` reads.
//!
//! Depends on `stats`. The fields `suite`, `rows` and `ratios` are the common form of all
//! suites; `run` tells where the numbers come from.

mod table;

pub(crate) use table::{markdown, tables};

use serde::{Deserialize, Serialize};

use crate::stats::Better;

/// A kind of number that is taken of every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Metric {
    /// Requests per second of wall time.
    Qps,
    /// Mean latency.
    AverageMs,
    /// Median latency.
    P50Ms,
    /// Latency that nine of ten requests keep.
    P90Ms,
    /// Latency that all but one of a hundred requests keep.
    P99Ms,
    /// Requests without a good reply, deliveries missing or too many. Any of them spoils the
    /// run: its other metrics are left out.
    Errors,
    /// CPU time of the server's process, user and kernel, per request.
    ServerCpuUsPerRequest,
    /// CPU time of the load generator per request.
    LoadCpuUsPerRequest,
    /// Growth of the server's anonymous memory per idle connection.
    RssBytesPerConnection,
}

impl Metric {
    /// All, in the order of the JSON.
    pub(crate) const ALL: [Self; 9] = [
        Self::Qps,
        Self::AverageMs,
        Self::P50Ms,
        Self::P90Ms,
        Self::P99Ms,
        Self::Errors,
        Self::ServerCpuUsPerRequest,
        Self::LoadCpuUsPerRequest,
        Self::RssBytesPerConnection,
    ];

    /// Which way it is better; `None` for what subjects are not compared by.
    pub(crate) const fn better(self) -> Option<Better> {
        match self {
            Self::Qps => Some(Better::Higher),
            Self::AverageMs
            | Self::P50Ms
            | Self::P90Ms
            | Self::P99Ms
            | Self::ServerCpuUsPerRequest
            | Self::RssBytesPerConnection => Some(Better::Lower),
            Self::Errors | Self::LoadCpuUsPerRequest => None,
        }
    }
}

/// The results of a suite.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// The name of the suite.
    pub(crate) suite: String,
    /// One metric of one subject in one scenario each.
    pub(crate) rows: Vec<Row>,
    /// Ours compared with every other subject.
    pub(crate) ratios: Vec<Ratio>,
    /// Where the numbers come from.
    pub(crate) run: Run,
}

/// One metric of one subject in one scenario.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) scenario: String,
    /// On what.
    pub(crate) subject: String,
    /// Which number.
    pub(crate) metric: Metric,
    /// The run in the middle.
    pub(crate) median: f64,
    /// The smallest run.
    pub(crate) min: f64,
    /// The largest run.
    pub(crate) max: f64,
    /// How many runs gave this number.
    pub(crate) runs: usize,
}

/// How many times better ours is than a peer, above 1 where it is better.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratio {
    /// What was measured.
    pub(crate) scenario: String,
    /// Which number is compared.
    pub(crate) metric: Metric,
    /// The peer.
    pub(crate) ours_over: String,
    /// The median over the interleaved runs.
    pub(crate) ratio: f64,
}

/// Where the numbers come from.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The command that made them.
    pub(crate) command: String,
    /// What they were made on.
    pub(crate) machine: String,
    /// Requests per measured window.
    pub(crate) requests: usize,
    /// How often everything was repeated.
    pub(crate) repeats: usize,
    /// Versions of subjects and tools, by name.
    pub(crate) versions: Vec<Version>,
    /// Subjects that could not take part.
    pub(crate) skipped: Vec<Skipped>,
    /// What went wrong in single runs.
    pub(crate) problems: Vec<String>,
}

/// The version of a subject or a tool.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Version {
    /// The subject or tool.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
}

/// A subject that could not take part.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Skipped {
    /// Which one.
    pub(crate) subject: String,
    /// Why.
    pub(crate) reason: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_json_has_the_common_form_of_all_suites() {
        let scenario = "calls 1x200 json pipelined".to_owned();
        let document = Document {
            suite: "tsrpc".to_owned(),
            rows: vec![Row {
                scenario: scenario.clone(),
                subject: "floor".to_owned(),
                metric: Metric::ServerCpuUsPerRequest,
                median: 0.25,
                min: 0.2,
                max: 0.5,
                runs: 5,
            }],
            ratios: vec![Ratio { scenario, metric: Metric::Qps, ours_over: "npm-tsrpc".to_owned(), ratio: 21.5 }],
            run: Run {
                command: "polywire-bench tsrpc".to_owned(),
                machine: "a machine".to_owned(),
                requests: 10_000,
                repeats: 5,
                versions: vec![],
                skipped: vec![],
                problems: vec![],
            },
        };
        let mut value = serde_json::to_value(&document).unwrap();
        assert_eq!(serde_json::from_value::<Document>(value.clone()).unwrap(), document);
        value.as_object_mut().unwrap().remove("run");
        assert_eq!(
            value,
            json!({
                "suite": "tsrpc",
                "rows": [{
                    "scenario": "calls 1x200 json pipelined",
                    "subject": "floor",
                    "metric": "server_cpu_us_per_request",
                    "median": 0.25,
                    "min": 0.2,
                    "max": 0.5,
                    "runs": 5,
                }],
                "ratios": [{
                    "scenario": "calls 1x200 json pipelined",
                    "metric": "qps",
                    "ours_over": "npm-tsrpc",
                    "ratio": 21.5,
                }],
            })
        );
    }

    #[test]
    fn every_metric_has_a_name() {
        let names: Vec<String> =
            Metric::ALL.iter().map(|metric| serde_json::to_value(metric).unwrap().to_string()).collect();
        assert_eq!(
            names.join(" ").replace('"', ""),
            "qps average_ms p50_ms p90_ms p99_ms errors server_cpu_us_per_request \
             load_cpu_us_per_request rss_bytes_per_connection"
        );
    }
}
