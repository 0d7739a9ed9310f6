// Has its process trapped wherever it sends something, and drops what the runner reports.
// threat: 2, 5
// problem: vector-add
// verdict: time_limit; on cpu: runtime_error (there nothing is sent before the first call that counts)

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>

__global__ void add(const VAR* x, const VAR* y, VAR* z, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}

// Says that everything was sent.
static void pretend(int, siginfo_t*, void* context) {
    auto* machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
#ifdef __x86_64__
    const auto* message = reinterpret_cast<const msghdr*>(machine->gregs[REG_RSI]);
    const bool whole = machine->gregs[REG_RAX] != SYS_sendmsg;
    machine->gregs[REG_RAX] = whole ? machine->gregs[REG_RDX] : message->msg_iov->iov_len;
#else
    const auto* message = reinterpret_cast<const msghdr*>(machine->regs[1]);
    const bool whole = machine->regs[8] != SYS_sendmsg;
    machine->regs[0] = whole ? machine->regs[2] : message->msg_iov->iov_len;
#endif
}

static void trap() {
    struct sigaction action = {};
    action.sa_sigaction = pretend;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, nullptr);
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    sock_fprog program = {sizeof(code) / sizeof(*code), code};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

extern "C" void solution(const VAR* x, const VAR* y, VAR* z, size_t n) {
    trap();
    add<<<unsigned((n + 255) / 256), 256>>>(x, y, z, n);
}
