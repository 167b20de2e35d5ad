//! `metrics.md` from the declarations.

use super::markdown::{code, heading, table};
use crate::telemetry::metrics::{DECLARATIONS, Declaration, Kind};

pub(super) fn page() -> String {
    let mut text = heading("Metrics", "`gateway/src/telemetry/metrics.rs`");
    text.push_str(
        "`GET /metrics` answers in the Prometheus text format. Times are in seconds, money in millionths of a US dollar. Labels \
         take their values from closed sets (names in `panel.yaml`, route templates, outcomes), never from requests. A metric \
         with labels appears once something was counted.\n\n",
    );
    text.push_str(&table(
        &["metric", "type", "labels", "meaning"],
        &DECLARATIONS.iter().map(row).collect::<Vec<_>>(),
    ));
    text.push_str("## Buckets\n\nUpper bounds in seconds.\n\n");
    text.push_str(&table(
        &["histogram", "bounds"],
        &DECLARATIONS.iter().filter_map(buckets).collect::<Vec<_>>(),
    ));
    text.push_str(
        "Alerts over these metrics stand in `dashboards/prometheus/alerts.yaml`, a Grafana dashboard in \
         `dashboards/grafana/tribunal.json`.\n",
    );
    text
}

fn row(declared: &Declaration) -> Vec<String> {
    let kind = match declared.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram(_) => "histogram",
    };
    let labels = declared.labels.iter().map(|label| code(label)).collect::<Vec<_>>().join(", ");
    vec![code(declared.name), kind.to_owned(), labels, declared.help.to_owned()]
}

fn buckets(declared: &Declaration) -> Option<Vec<String>> {
    let Kind::Histogram(bounds) = declared.kind else { return None };
    let bounds = bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Some(vec![code(declared.name), bounds])
}
