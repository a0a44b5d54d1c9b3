//! Percentiles of latencies, medians of runs and the ratios between subjects.
//!
//! Depends on nothing.

/// Latencies of one run, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Latency {
    /// Arithmetic mean.
    pub(crate) average: f64,
    /// Half of the requests took at most this long.
    pub(crate) p50: f64,
    /// Nine of ten requests took at most this long.
    pub(crate) p90: f64,
    /// All but one of a hundred requests took at most this long.
    pub(crate) p99: f64,
}

impl Latency {
    /// Sums up one run and sorts its latencies; `None` where there are none.
    pub(crate) fn of(nanos: &mut [u64]) -> Option<Self> {
        if nanos.is_empty() {
            return None;
        }
        nanos.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "latencies are far below 2^53 ns")]
        Some(Self {
            average: nanos.iter().sum::<u64>() as f64 / nanos.len() as f64,
            p50: percentile(nanos, 50) as f64,
            p90: percentile(nanos, 90) as f64,
            p99: percentile(nanos, 99) as f64,
        })
    }
}

/// The smallest value that at least `percent` of the sorted, non-empty `values` do not exceed.
fn percentile(values: &[u64], percent: usize) -> u64 {
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values[rank - 1]
}

/// One metric over several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    /// The run in the middle (the mean of the two in the middle of an even number).
    pub(crate) median: f64,
    /// The smallest run.
    pub(crate) min: f64,
    /// The largest run.
    pub(crate) max: f64,
    /// How many runs there were.
    pub(crate) runs: usize,
}

impl Summary {
    /// Sums up the runs; `None` where there are none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            median: median_of_sorted(&values)?,
            min: *values.first()?,
            max: *values.last()?,
            runs: values.len(),
        })
    }
}

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    /// Rates.
    Higher,
    /// Costs.
    Lower,
}

/// How many times better ours is than a peer: the median over the runs in which both have a
/// value, each run compared with the run beside it. `None` without such a run.
pub(crate) fn median_ratio(ours: &[Option<f64>], peer: &[Option<f64>], better: Better) -> Option<f64> {
    let pairs = ours.iter().zip(peer).filter_map(|(&ours, &peer)| {
        let (ours, peer) = (ours?, peer?);
        let ratio = match better {
            Better::Higher => ours / peer,
            Better::Lower => peer / ours,
        };
        ratio.is_finite().then_some(ratio)
    });
    Summary::of(pairs).map(|summary| summary.median)
}

fn median_of_sorted(values: &[f64]) -> Option<f64> {
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(values[middle - 1], upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_take_the_nearest_rank() {
        let mut hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(Latency::of(&mut hundred), Some(Latency { average: 50.5, p50: 50.0, p90: 90.0, p99: 99.0 }));
        let one = Latency::of(&mut [7]).unwrap();
        assert_eq!((one.p50, one.p90, one.p99), (7.0, 7.0, 7.0));
        let three = Latency::of(&mut [30, 10, 20]).unwrap();
        assert_eq!((three.p50, three.p90, three.p99), (20.0, 30.0, 30.0));
        assert_eq!(Latency::of(&mut []), None);
    }

    #[test]
    fn runs_are_summed_up_by_their_median() {
        for (values, median) in [(vec![3.0], 3.0), (vec![9.0, 1.0, 2.0], 2.0), (vec![4.0, 1.0, 2.0, 9.0], 3.0)] {
            assert_eq!(Summary::of(values.clone()).unwrap().median, median, "{values:?}");
        }
        let summary = Summary::of([5.0, 1.0, 8.0]).unwrap();
        assert_eq!((summary.min, summary.max, summary.runs), (1.0, 8.0, 3));
        assert_eq!(Summary::of([]), None);
    }

    #[test]
    fn a_ratio_above_one_says_that_ours_is_better() {
        let ours = [Some(1.0), Some(2.0), Some(4.0)];
        let peer = [Some(20.0), Some(60.0), Some(40.0)];
        assert_eq!(median_ratio(&ours, &peer, Better::Lower), Some(20.0));
        assert_eq!(median_ratio(&peer, &ours, Better::Higher), Some(20.0));
    }

    #[test]
    fn only_runs_that_both_finished_are_compared() {
        let ours = [Some(1.0), None, Some(1.0)];
        let peer = [Some(3.0), Some(9.0), None];
        assert_eq!(median_ratio(&ours, &peer, Better::Lower), Some(3.0));
        assert_eq!(median_ratio(&ours, &[None, Some(1.0), None], Better::Lower), None);
        assert_eq!(median_ratio(&[Some(0.0)], &[Some(1.0)], Better::Lower), None);
    }
}
