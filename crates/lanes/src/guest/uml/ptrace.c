/* A ptrace() for user-mode Linux that always writes a process's extended registers whole.
 *
 * Before 6.2 user-mode Linux keeps 2,696 bytes or so of them. Where the CPU has more (Intel's AMX: 11,008), the host
 * refuses to set a part (arch/x86/kernel/fpu/regset.c, xstateregs_set: `count != fpu_user_cfg.max_size`), and the guest
 * panics at its first process. This library is preloaded: it reads the whole set, lays the given part over its
 * beginning, and writes the whole set. Everything else is handed to the host as libc does it.
 *
 * No libc is linked, so that it loads beside any. User-mode Linux calls ptrace from one thread, never from a signal
 * handler, so that one buffer does; its stacks are too small for it.
 */
typedef unsigned long word;
struct part { void *base; word length; };

enum { PEEKTEXT = 1, PEEKUSER = 3, GETREGSET = 0x4204, SETREGSET = 0x4205, NT_X86_XSTATE = 0x202, SYS_ptrace = 101 };
enum { MOST = 64 << 10 };

extern int *__errno_location(void);

static unsigned char whole[MOST] __attribute__((aligned(64)));

static long host(long request, long process, void *address, void *data)
{
	long answer;
	register void *fourth __asm__("r10") = data;
	__asm__ volatile("syscall"
			 : "=a"(answer)
			 : "a"((long)SYS_ptrace), "D"(request), "S"(process), "d"(address), "r"(fourth)
			 : "rcx", "r11", "memory");
	return answer;
}

static long told(long answer)
{
	if (answer >= 0)
		return answer;
	*__errno_location() = (int)-answer;
	return -1;
}

static long set_whole(long process, void *kind, const struct part *given)
{
	struct part full = { whole, MOST };
	long answer = host(GETREGSET, process, kind, &full);
	if (answer < 0)
		return told(answer);
	const unsigned char *from = given->base;
	word count = given->length < full.length ? given->length : full.length;
	for (word at = 0; at < count; at++)
		((volatile unsigned char *)whole)[at] = from[at];
	return told(host(SETREGSET, process, kind, &full));
}

__attribute__((visibility("default"))) long ptrace(long request, long process, void *address, void *data)
{
	if (request == SETREGSET && (long)address == NT_X86_XSTATE)
		return set_whole(process, address, data);
	if (request < PEEKTEXT || request > PEEKUSER)
		return told(host(request, process, address, data));
	/* The host writes the word where data points; callers of libc get it as the answer. */
	long peeked = 0;
	long answer = told(host(request, process, address, &peeked));
	if (answer < 0)
		return answer;
	*__errno_location() = 0;
	return peeked;
}
