//! The guard against bounds that take a short tail for all there is.
//!
//! Student's lower bound passes too often when low scores are rare: a sample that missed some of them has both a higher
//! mean and a smaller standard error. So a decision must hold with what speaks most against it counted once more.

use std::collections::BTreeMap;

/// The values with the source that pulls the mean down most (`lowest`), or up, once more under a name of its own; a value
/// without a source is one by itself.
#[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^52")]
pub(super) fn with_one_more(
    values: &[f64],
    sources: &[Option<u64>],
    lowest: bool,
) -> (Vec<f64>, Vec<Option<u64>>) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let pull = |value: f64| if lowest { mean - value } else { value - mean };
    let mut groups: BTreeMap<u64, f64> = BTreeMap::new();
    let mut single: Option<f64> = None;
    for (value, source) in values.iter().zip(sources) {
        match source {
            Some(source) => *groups.entry(*source).or_insert(0.0) += pull(*value),
            None if single.is_none_or(|known| pull(*value) > pull(known)) => single = Some(*value),
            None => (),
        }
    }
    let (mut more, mut more_sources) = (values.to_vec(), sources.to_vec());
    let group = groups.iter().max_by(|(_, x), (_, y)| x.total_cmp(y));
    match (single, group) {
        (single, Some((group, sum))) if single.is_none_or(|value| *sum > pull(value)) => {
            let fresh = (0..=u64::MAX).find(|name| !groups.contains_key(name));
            let own = values.iter().zip(sources).filter(|(_, source)| **source == Some(*group));
            for (value, _) in own {
                more.push(*value);
                more_sources.push(fresh);
            }
        }
        (Some(value), _) => {
            more.push(value);
            more_sources.push(None);
        }
        (None, _) => (),
    }
    (more, more_sources)
}

#[cfg(test)]
mod tests {
    use super::with_one_more;

    #[test]
    fn the_worst_source_counts_as_another_one() {
        let (values, sources) = with_one_more(&[0.9, 0.2, 0.8], &[None; 3], true);
        assert_eq!((values, sources), (vec![0.9, 0.2, 0.8, 0.2], vec![None; 4]));
        let own = [Some(0), Some(3), Some(3), None];
        let (values, sources) = with_one_more(&[1.0, 0.5, 0.4, 0.6], &own, true);
        assert_eq!((&values[4..], &sources[4..]), (&[0.5, 0.4][..], &[Some(1); 2][..]));
        let (values, _) = with_one_more(&[1.0, 0.5, 0.4, 0.6], &own, false);
        assert_eq!(values[4..], [1.0]);
        assert!(with_one_more(&[], &[], true).0.is_empty());
    }
}
