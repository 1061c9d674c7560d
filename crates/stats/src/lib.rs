//! Pure statistics: order, estimates, sequential looks, verdicts, limits, advice.
