//! What started the ranks of this job, as far as the variables that it left them tell.

/// Variables that an `mpirun` gives its ranks and Slurm's `srun` does not: Open MPI's, and that of MPICH and its kin. One that
/// runs in a job of Slurm's starts its ranks through a step of `srun`'s all the same.
const OF_MPIRUN: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"];

/// Whether Slurm's `srun` started so many ranks itself, and no `mpirun` did. `variable`: the value of a variable.
pub(super) fn is_srun(ranks: u32, variable: impl Fn(&str) -> Option<String>) -> bool {
    // Of a step of `srun`'s these are its processes; a step that only carries another launcher has one for each node.
    let tasks = variable("SLURM_STEP_NUM_TASKS").and_then(|tasks| tasks.parse::<u32>().ok());
    tasks == Some(ranks) && !OF_MPIRUN.iter().any(|name| variable(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::is_srun;

    #[test]
    fn srun_is_told_from_an_mpirun_in_a_job_of_slurms() {
        let of = |ranks: u32, variables: &[(&str, &str)]| {
            is_srun(ranks, |name| variables.iter().find(|of| of.0 == name).map(|of| of.1.to_owned()))
        };
        let step = ("SLURM_STEP_NUM_TASKS", "8");
        assert!(of(8, &[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), step]));
        assert!(!of(8, &[]) && !of(8, &[("SLURM_JOB_ID", "7")]), "no step, no srun");
        assert!(!of(8, &[step, ("OMPI_COMM_WORLD_SIZE", "8")]), "Open MPI's mpirun");
        assert!(!of(8, &[step, ("MPI_LOCALNRANKS", "1")]), "MPICH's mpirun");
        assert!(!of(64, &[step]), "one process for each node");
        assert!(!of(8, &[("SLURM_STEP_NUM_TASKS", "")]));
    }
}
