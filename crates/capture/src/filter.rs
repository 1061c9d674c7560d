//! The filter that stops a program at the calls of interest: a program of the kernel's packet filter over `struct seccomp_data`.

use libc::sock_filter;

/// linux/audit.h, AUDIT_ARCH_*: the calls of other architectures have other numbers, and are let through.
#[cfg(target_arch = "x86_64")]
pub(crate) const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
pub(crate) const ARCHITECTURE: u32 = 0xC000_00B7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const ARCHITECTURE: u32 = 0;

/// Offsets in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ADDRESS_AT: u32 = 8;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_IF_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Stops at these numbers. At most 250 of them: a jump is told in one byte. `inside`: calls from the first so many bytes behind an
/// address, whose high half is this, are let through.
pub(crate) fn program(numbers: &[i64], inside: Option<(u32, u32)>) -> Vec<sock_filter> {
    assert!(numbers.len() <= 250, "a jump over all of them must fit into a byte");
    let step = |code, k, jt, jf| sock_filter { code, jt, jf, k };
    let mut program = vec![
        step(LOAD, ARCHITECTURE_AT, 0, 0),
        step(JUMP_IF_EQUAL, ARCHITECTURE, 1, 0),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        step(LOAD, NUMBER_AT, 0, 0),
    ];
    for (at, &number) in numbers.iter().enumerate() {
        // Over the numbers behind this one and the return that lets through.
        let over = (numbers.len() - at) as u8;
        program.push(step(JUMP_IF_EQUAL, number as u32, over, 0));
    }
    program.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
    // Behind the numbers: of calls that nobody is interested in the kernel remembers that they are let through.
    if let Some((high, bytes)) = inside {
        program.extend([
            step(LOAD, ADDRESS_AT + 4, 0, 0),
            step(JUMP_IF_EQUAL, high, 0, 3),
            step(LOAD, ADDRESS_AT, 0, 0),
            step(JUMP_IF_LEAST, bytes, 1, 0),
            step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        ]);
    }
    program.push(step(RETURN, libc::SECCOMP_RET_TRACE, 0, 0));
    program
}

/// Whether this kind of CPU is known.
pub(crate) fn is_known() -> bool {
    ARCHITECTURE != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do.
    fn decides(program: &[sock_filter], number: u32, architecture: u32, address: u64) -> u32 {
        let (mut at, mut held) = (0usize, 0);
        loop {
            let step = program[at];
            at += 1;
            let jump = |is: bool| usize::from(if is { step.jt } else { step.jf });
            match step.code {
                LOAD => {
                    held = match step.k {
                        NUMBER_AT => number,
                        ARCHITECTURE_AT => architecture,
                        ADDRESS_AT => address as u32,
                        _ => (address >> 32) as u32,
                    }
                }
                JUMP_IF_EQUAL => at += jump(held == step.k),
                JUMP_IF_LEAST => at += jump(held >= step.k),
                _ => return step.k,
            }
        }
    }

    #[test]
    fn it_stops_at_these_calls_of_this_architecture_alone() {
        for inside in [None, Some((7, 0x800))] {
            let program = program(&[3, 9, 257], inside);
            for (number, stops) in [(3, true), (9, true), (257, true), (0, false), (4, false), (258, false)] {
                let wanted = if stops { libc::SECCOMP_RET_TRACE } else { libc::SECCOMP_RET_ALLOW };
                assert_eq!(decides(&program, number, ARCHITECTURE, 0x1234), wanted, "{number}");
                assert_eq!(decides(&program, number, ARCHITECTURE ^ 1, 0x1234), libc::SECCOMP_RET_ALLOW);
            }
        }
    }

    #[test]
    fn calls_from_inside_are_let_through() {
        let program = program(&[3, 9], Some((7, 0x800)));
        for (address, stops) in
            [(0x7_0000_0000, false), (0x7_0000_07ff, false), (0x7_0000_0800, true), (0x8_0000_0000, true), (0, true)]
        {
            let wanted = if stops { libc::SECCOMP_RET_TRACE } else { libc::SECCOMP_RET_ALLOW };
            assert_eq!(decides(&program, 9, ARCHITECTURE, address), wanted, "{address:x}");
        }
    }
}
