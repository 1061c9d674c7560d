//! Names for the groups of steps that say none.

use super::OperationStep;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;

/// Reads steps. One without a name is called after its operation, and after its set too where another
/// nameless step does the same to another set; a number tells apart what would still be alike.
pub(super) fn steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OperationStep>, D::Error> {
    let mut steps = Vec::<OperationStep>::deserialize(deserializer)?;
    name(&mut steps);
    Ok(steps)
}

fn name(steps: &mut [OperationStep]) {
    let mut taken: BTreeSet<String> =
        steps.iter().map(|step| step.name.clone()).filter(|name| !name.is_empty()).collect();
    let nameless: Vec<(usize, super::Operation, String)> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.name.is_empty())
        .map(|(index, step)| (index, step.operation, step.files.clone()))
        .collect();
    for (index, operation, files) in &nameless {
        let elsewhere = nameless.iter().any(|(_, other, set)| other == operation && set != files);
        let base = if elsewhere { format!("{} {files}", operation.name()) } else { operation.name().to_owned() };
        let mut name = base.clone();
        for number in 2.. {
            if taken.insert(name.clone()) {
                break;
            }
            name = format!("{base} {number}");
        }
        if name != operation.name() {
            steps[*index].name = name;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::operations::Operations;

    #[test]
    fn nameless_steps_never_collide() {
        let groups = |steps: &str| {
            let files = "files = [{ name = \"a\", count = 9 }, { name = \"b\", count = 9 }]";
            toml::from_str::<Operations>(&format!("{files}\nstep = [{steps}]")).unwrap().groups()
        };
        let on = |operation: &str, files: &str| format!("{{ operation = \"{operation}\", files = \"{files}\" }}");
        assert_eq!(groups(&[on("create", "a"), on("stat", "a")].join(",")), ["create", "stat"]);
        assert_eq!(
            groups(&[on("create", "a"), on("create", "b"), on("append", "a"), on("append", "a")].join(",")),
            ["create a", "create b", "append", "append 2"]
        );
        assert_eq!(
            groups(&[on("stat", "a"), on("stat", "b"), on("stat", "a"), on("stat", "b"), on("stat", "b")].join(",")),
            ["stat a", "stat b", "stat a 2", "stat b 2", "stat b 3"]
        );
        // What has a name of its own keeps it.
        let named = "{ name = \"create\", operation = \"create\", files = \"b\" }".to_owned();
        assert_eq!(groups(&[on("create", "a"), named].join(",")), ["create 2", "create"]);
    }
}
