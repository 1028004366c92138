use std::fmt::Write;

use bethe_core::solve::Record;

/// The records as CSV; missing values are empty.
pub fn csv(records: &[Record]) -> String {
    let mut text =
        "iteration,objective,lower_bound,gap,residual,oracle_calls,seconds,average_objective,products\n"
            .to_string();
    let number = |value: Option<f64>| match value {
        Some(value) if value.is_finite() => value.to_string(),
        _ => String::new(),
    };
    for r in records {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{}",
            r.iteration,
            number(Some(r.objective)),
            number(r.lower_bound),
            number(r.gap),
            number(Some(r.residual)),
            r.oracle_calls,
            r.seconds,
            number(r.average_objective),
            r.products
        );
    }
    text
}
