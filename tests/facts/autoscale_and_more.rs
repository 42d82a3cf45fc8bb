//! Autoscaling, other workloads, quotas, limits, network policies, rights.

use crate::autoscale;
use crate::case::{Case, Verdict};
use crate::{policies, workloads};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    autoscale::judge(case)
        .or_else(|| workloads::judge(case))
        .or_else(|| policies::judge(case))
        .unwrap_or(Verdict::NotTried)
}
