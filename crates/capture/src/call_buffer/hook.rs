//! What a traced process does in place of a stop: the call, and a record of it in the ring.
//!
//! It lies at the same address in each process and uses some 700 bytes of the stack. Registers are as the kernel leaves them. A program
//! that passes a path which is not there faults in it; the tracer then leads it to the call itself.

use super::layout::{
    CALLS, CLASSES_AT, CLOSES, FULL_BYTES, HEAD_BYTES, INSIDE_BYTES, LOOKS, OPENS, PATH, PATH_BYTES, PIECE_BYTES,
    RING_BYTES, SECOND, WAITS, WRITES,
};
use std::arch::global_asm;

/// In a frame of the stack: the path, a `struct stat`, and four registers with the time when the look began.
const STATUS_AT: usize = PATH_BYTES;
const SAVED_AT: usize = STATUS_AT + 144;
const FRAME_BYTES: usize = SAVED_AT + 40;

global_asm!(
    r#"
    .pushsection .rodata.fairlane_hook, "a"
    .balign 64
    .globl fairlane_hook
    .hidden fairlane_hook
    fairlane_hook:
        cmp eax, {calls}
        jae .Lhook_stops
        lea r11, [rip + fairlane_hook + 0x2000]
        cmp dword ptr [r11 + 4], 0
        je .Lhook_stops
        mov ecx, eax
        movzx ecx, byte ptr [r11 + rcx + {classes}]
        test ecx, ecx
        jz .Lhook_stops
        push rbx
        push rbp
        push r12
        push r13
        push r14
        push r15
        sub rsp, {frame}
        mov r15d, ecx
        mov r13d, eax
        mov r12, r11
        lea r14, [r11 + 0xE000]
        # Half of the ring is unread: the reader is called.
        mov rbx, [r14]
        sub rbx, [r14 + 64]
        cmp rbx, {half}
        ja .Lhook_back
        xor ebx, ebx
        # WUNTRACED, WCONTINUED: what is returned may be of a process that goes on.
        test r15d, {waits}
        jz .Lhook_class
        test edx, 10
        jnz .Lhook_back
    .Lhook_class:
        test cl, {path}
        jz .Lhook_time
        mov r11, rdi
        mov ebp, esi
        test cl, {second}
        jz .Lhook_flags
        mov r11, rsi
        mov ebp, edx
    .Lhook_flags:
        test cl, {opens}
        jz .Lhook_name
        # O_ACCMODE, O_CREAT, O_TRUNC, O_TMPFILE: for reading what is there.
        test ebp, 0x400243
        jz .Lhook_name
        # O_TMPFILE: a file without a name.
        test ebp, 0x400000
        jnz .Lhook_back
        # O_CREAT and O_EXCL: what was not there.
        and ebp, 0xC0
        cmp ebp, 0xC0
        je .Lhook_name
        or r15d, {looks}
    .Lhook_name:
        test r11, r11
        jz .Lhook_unnamed
    .globl fairlane_hook_copies
    .hidden fairlane_hook_copies
    fairlane_hook_copies:
    .Lhook_copy:
        mov al, [r11 + rbx]
        mov [rsp + rbx], al
        inc ebx
        test al, al
        jz .Lhook_look
        cmp ebx, {path_bytes}
        jb .Lhook_copy
    .globl fairlane_hook_copied
    .hidden fairlane_hook_copied
    fairlane_hook_copied:
        jmp .Lhook_back
    .Lhook_look:
        test r15d, {looks}
        jz .Lhook_time
        # What lies there before the call changes it: newfstatat, AT_SYMLINK_NOFOLLOW.
        mov r11, rdx
    .globl fairlane_hook_look_clock
    .hidden fairlane_hook_look_clock
    fairlane_hook_look_clock:
        rdtsc
        shl rdx, 32
        or rax, rdx
        mov [rsp + {saved} + 32], rax
        mov rdx, r11
        mov [rsp + {saved}], rdi
        mov [rsp + {saved} + 8], rsi
        mov [rsp + {saved} + 16], rdx
        mov [rsp + {saved} + 24], r10
        test cl, {second}
        jnz .Lhook_from
        mov edi, -100
    .Lhook_from:
        mov rsi, rsp
        lea rdx, [rsp + {status}]
        mov r10d, 0x100
        mov eax, 262
        syscall
        mov rdi, [rsp + {saved}]
        mov rsi, [rsp + {saved} + 8]
        mov rdx, [rsp + {saved} + 16]
        mov r10, [rsp + {saved} + 24]
        mov ecx, r15d
        # ENOENT: nothing. Whatever else is wrong is the tracer's to find out.
        cmp eax, -2
        je .Lhook_nothing
        test eax, eax
        js .Lhook_back
        # Where a link leads is looked at by the tracer.
        mov eax, [rsp + {status} + 24]
        and eax, 0xF000
        cmp eax, 0xA000
        je .Lhook_back
        jmp .Lhook_time
    .Lhook_nothing:
        mov dword ptr [rsp + {status} + 24], 0
        mov qword ptr [rsp + {status} + 48], 0
        jmp .Lhook_time
    .Lhook_unnamed:
        and r15d, {not_looks}
    .Lhook_time:
        mov r11, rdx
    .globl fairlane_hook_clock
    .hidden fairlane_hook_clock
    fairlane_hook_clock:
        rdtsc
        shl rdx, 32
        or rax, rdx
        mov rbp, rax
        mov rdx, r11
        test cl, {writes}
        jz .Lhook_does
        cmp rbp, [r12 + 8]
        jae .Lhook_back
    .Lhook_does:
        test cl, {closes}
        jz .Lhook_asks
        mov ecx, {head}
        lock xadd [r14], rcx
    .globl fairlane_hook_begins_record
    .hidden fairlane_hook_begins_record
    fairlane_hook_begins_record:
        and ecx, {mask}
        lea rcx, [r14 + rcx + 4096]
        mov dword ptr [rcx], {head}
        mov [rcx + 48], rdi
        mov eax, [r12]
        mov [rcx + 8], eax
        rdfsbase rax
        mov [rcx + 16], rax
        mov eax, r13d
        or eax, 0xC0000000
        mov dword ptr [rcx + 4], eax
    .globl fairlane_hook_begun
    .hidden fairlane_hook_begun
    fairlane_hook_begun:
    .Lhook_asks:
        mov eax, r13d
        syscall
        lea ecx, [rbx + 103]
        and ecx, -8
        mov r11, rcx
        lock xadd [r14], rcx
    .globl fairlane_hook_ends_record
    .hidden fairlane_hook_ends_record
    fairlane_hook_ends_record:
        and ecx, {mask}
        lea rcx, [r14 + rcx + 4096]
        mov dword ptr [rcx], r11d
        # Whose it is comes first: who is killed here leaves a hole.
        mov r11d, [r12]
        mov [rcx + 8], r11d
        rdfsbase r11
        mov [rcx + 16], r11
        mov [rcx + 40], rax
        mov [rcx + 48], rdi
        mov [rcx + 56], rsi
        mov [rcx + 64], rdx
        mov [rcx + 72], r10
        mov [rcx + 80], r8
        mov [rcx + 88], r9
        mov [rcx + 24], rbp
        # What was looked at stands in place of two arguments that these calls have not, or that nobody asks for.
        test r15d, {looks}
        jz .Lhook_seen
        mov r11d, [rsp + {status} + 24]
        mov [rcx + 80], r11d
        # How long the look took, as far as 32 bits tell.
        mov r11, rbp
        sub r11, [rsp + {saved} + 32]
        mov [rcx + 84], r11d
        mov r11, [rsp + {status} + 48]
        mov [rcx + 88], r11
    .Lhook_seen:
        # newfstatat tells what lies there: st_mode and st_size, in place of two arguments that it has not.
        cmp r13d, 262
        jne .Lhook_told
        test rax, rax
        jnz .Lhook_told
    .globl fairlane_hook_looks
    .hidden fairlane_hook_looks
    fairlane_hook_looks:
        mov r11, [rdx + 24]
        mov [rcx + 80], r11
        mov r11, [rdx + 48]
        mov [rcx + 88], r11
    .globl fairlane_hook_looked
    .hidden fairlane_hook_looked
    fairlane_hook_looked:
    .Lhook_told:
        mov r11, rax
        mov rbp, rdx
        rdtsc
        shl rdx, 32
        or rax, rdx
        mov [rcx + 32], rax
        mov [rcx + 12], ebx
        xor edx, edx
        test ebx, ebx
        jz .Lhook_whole
    .Lhook_path:
        mov rax, [rsp + rdx]
        mov [rcx + rdx + 96], rax
        add edx, 8
        cmp edx, ebx
        jb .Lhook_path
    .Lhook_whole:
        # Now it is whole.
        or r13d, 0x80000000
        mov dword ptr [rcx + 4], r13d
    .globl fairlane_hook_ended
    .hidden fairlane_hook_ended
    fairlane_hook_ended:
        mov r12, r11
        # Whose record ends in another piece of the ring than it begins in has the pages of that one and the next mapped
        # (MADV_POPULATE_WRITE, which older kernels refuse): threads that come to a page together would wait for each other.
        sub rcx, r14
        lea eax, [rcx - 4096]
        lea r11d, [rbx + 103]
        and r11d, -8
        add r11d, eax
        xor eax, r11d
        test eax, {not_piece}
        jz .Lhook_leaves
        mov r13, rdi
        mov r15, rsi
        and r11d, {mask} & {not_piece}
        lea rdi, [r14 + r11 + 4096]
        mov esi, {mapped}
        sub esi, r11d
        sub esi, 4096
        mov eax, 2 * {piece}
        cmp esi, eax
        cmova esi, eax
        mov edx, 23
        mov eax, 28
        syscall
        mov rdi, r13
        mov rsi, r15
    .Lhook_leaves:
        mov rax, r12
        mov rdx, rbp
        add rsp, {frame}
        pop r15
        pop r14
        pop r13
        pop r12
        pop rbp
        pop rbx
        ret
    .globl fairlane_hook_faults
    .hidden fairlane_hook_faults
    fairlane_hook_faults:
    .Lhook_back:
        mov eax, r13d
        add rsp, {frame}
        pop r15
        pop r14
        pop r13
        pop r12
        pop rbp
        pop rbx
        jmp .Lhook_stops

    # Maps what is missing: the page of control, the ring by its path at rdi, and rsi bytes for what leads here.
    .globl fairlane_hook_begins
    .hidden fairlane_hook_begins
    fairlane_hook_begins:
        mov r12, rdi
        mov r13, rsi
        lea rdi, [rip + fairlane_hook + 0x2000]
        mov esi, 0x1000
        mov edx, 3
        mov r10d, 0x100022
        mov r8, -1
        xor r9d, r9d
        mov eax, 9
        syscall
        cmp rax, rdi
        jne .Lhook_failed
        mov edi, -100
        mov rsi, r12
        mov edx, 0x80002
        xor r10d, r10d
        mov eax, 257
        syscall
        test eax, eax
        js .Lhook_failed
        mov ebx, eax
        mov r8d, eax
        lea rdi, [rip + fairlane_hook + 0x10000]
        mov esi, {mapped}
        mov edx, 3
        mov r10d, 0x100001
        xor r9d, r9d
        mov eax, 9
        syscall
        mov r12, rax
        mov ebp, 0
        cmp rax, rdi
        sete bpl
        mov edi, ebx
        mov eax, 3
        syscall
        test ebp, ebp
        jz .Lhook_failed
        # MADV_DONTDUMP: it is nothing of the program's.
        mov rdi, r12
        mov esi, {mapped}
        mov edx, 16
        mov eax, 28
        syscall
        xor edi, edi
        mov rsi, r13
        mov edx, 5
        mov r10d, 0x22
        mov r8, -1
        xor r9d, r9d
        mov eax, 9
        syscall
        mov rsi, rax
        xor edx, edx
        jmp .Lhook_tell
    .Lhook_failed:
        mov edx, 1
    .Lhook_tell:
        # The tracer is told by a call that does nothing and stops.
        mov edi, -1
        mov eax, 3
        jmp .Lhook_stops
    .globl fairlane_hook_inside_end
    .hidden fairlane_hook_inside_end
    fairlane_hook_inside_end:
    .org fairlane_hook + {inside}
    .Lhook_stops:
        syscall
        ret
    .globl fairlane_hook_end
    .hidden fairlane_hook_end
    fairlane_hook_end:
    .popsection
    "#,
    calls = const CALLS,
    classes = const CLASSES_AT,
    path_bytes = const PATH_BYTES,
    frame = const FRAME_BYTES,
    status = const STATUS_AT,
    saved = const SAVED_AT,
    looks = const LOOKS,
    not_looks = const !(LOOKS as u32),
    half = const FULL_BYTES,
    mask = const RING_BYTES - 1,
    piece = const PIECE_BYTES,
    not_piece = const !(PIECE_BYTES as u32 - 1),
    path = const PATH,
    second = const SECOND,
    opens = const OPENS,
    waits = const WAITS,
    writes = const WRITES,
    closes = const CLOSES,
    head = const HEAD_BYTES,
    mapped = const super::layout::RING_MAPPED,
    inside = const INSIDE_BYTES,
);

unsafe extern "C" {
    static fairlane_hook: u8;
    static fairlane_hook_copies: u8;
    static fairlane_hook_copied: u8;
    static fairlane_hook_faults: u8;
    static fairlane_hook_begins: u8;
    static fairlane_hook_clock: u8;
    static fairlane_hook_look_clock: u8;
    static fairlane_hook_looks: u8;
    static fairlane_hook_looked: u8;
    static fairlane_hook_begins_record: u8;
    static fairlane_hook_begun: u8;
    static fairlane_hook_ends_record: u8;
    static fairlane_hook_ended: u8;
    static fairlane_hook_end: u8;
}

fn offset(of: *const u8) -> u64 {
    of as u64 - &raw const fairlane_hook as u64
}

/// The code.
pub(super) fn code() -> &'static [u8] {
    // SAFETY: the symbols are the begin and the end of one piece of constant data.
    unsafe { std::slice::from_raw_parts(&raw const fairlane_hook, offset(&raw const fairlane_hook_end) as usize) }
}

/// Where a thread goes on that faulted here; `None`: nothing faults here on behalf of the program. Its path may not be there, the
/// counter may be forbidden to it (PR_SET_TSC), and what `newfstatat` filled may be unmapped by another thread.
pub(super) fn way_out(at: u64) -> Option<u64> {
    let looks = offset(&raw const fairlane_hook_looks)..offset(&raw const fairlane_hook_looked);
    let reads = offset(&raw const fairlane_hook_copies)..offset(&raw const fairlane_hook_copied);
    let clocks = [offset(&raw const fairlane_hook_clock), offset(&raw const fairlane_hook_look_clock)];
    match at {
        at if looks.contains(&at) => Some(looks.end),
        at if reads.contains(&at) || clocks.contains(&at) => Some(offset(&raw const fairlane_hook_faults)),
        _ => None,
    }
}

/// Whether a thread that stands here has begun a record that is not whole.
pub(super) fn is_writing(at: u64) -> bool {
    let first = offset(&raw const fairlane_hook_begins_record)..offset(&raw const fairlane_hook_begun);
    let second = offset(&raw const fairlane_hook_ends_record)..offset(&raw const fairlane_hook_ended);
    first.contains(&at) || second.contains(&at)
}

/// Where a process maps what is missing.
pub(super) fn begins() -> u64 {
    offset(&raw const fairlane_hook_begins)
}
