//! Workload and directory in, samples out: Fairlane's load generator.
