import type { Libc } from "./libc.ts";

/**
 * Calls to the kernel that the engine does not make once it serves, with their numbers on x86-64 and arm64. Source:
 * Linux, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
 */
const refusedCalls = {
  // Connections. The port that the process serves is open already, and taking connections there is another call.
  socket: [41, 198],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  // Programs.
  execve: [59, 221],
  execveat: [322, 281],
  // Memory and files of other processes.
  ptrace: [101, 117],
  kcmp: [312, 272],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  // Ways around a filter of calls, or around paths.
  io_uring_setup: [425, 425],
  open_by_handle_at: [304, 265],
  // Namespaces and mounts.
  chroot: [161, 51],
  pivot_root: [155, 41],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  // The kernel itself.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
} as const;

interface Machine {
  /** AUDIT_ARCH of linux/audit.h: the calls of another architecture have other numbers. */
  readonly audit: number;
  /** The call seccomp itself. */
  readonly seccomp: number;
  readonly refused: readonly number[];
  /** Whether numbers from this one on are the same calls with short pointers (x32). */
  readonly shortFrom: number | null;
}

const numbers = Object.values(refusedCalls);
const machines: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, seccomp: 317, refused: numbers.map(([x64]) => x64), shortFrom: 0x40000000 },
  arm64: { audit: 0xc00000b7, seccomp: 277, refused: numbers.map(([, arm64]) => arm64), shortFrom: null },
};

const loadWord = 0x20;
const jumpEqual = 0x15;
const jumpAtLeast = 0x35;
const answer = 0x06;
const allow = 0x7fff0000;
/** The call fails with EPERM, and the process goes on. */
const refuse = 0x00050000 | 1;

/** One instruction of the filter: code, jump when true, jump when false, value. */
export type FilterStep = readonly [code: number, whenTrue: number, whenFalse: number, value: number];

/** The filter of a machine, by the names of Node (`x64`, `arm64`); null for one whose calls are not known here. */
export function callFilter(machine: string): readonly FilterStep[] | null {
  const found = machines[machine];
  if (found === undefined) return null;
  const checks: (readonly [code: number, value: number])[] = found.refused.map((number) => [jumpEqual, number]);
  if (found.shortFrom !== null) checks.unshift([jumpAtLeast, found.shortFrom]);
  return [
    // struct seccomp_data: the number at 0, the architecture at 4.
    [loadWord, 0, 0, 4],
    [jumpEqual, 0, checks.length + 2, found.audit],
    [loadWord, 0, 0, 0],
    // Each jump goes over the checks that follow, and over the instruction that allows.
    ...checks.map(([code, value], at): FilterStep => [code, checks.length - at, 0, value]),
    [answer, 0, 0, allow],
    [answer, 0, 0, refuse],
  ];
}

const setFilter = 1;
const allThreads = 1;
const [internet, stream] = [2, 1];

/**
 * Refuses all threads of this process those calls from now on, and for good. True where a call was seen to be refused
 * afterwards; false where the kernel has no filters, or the machine is not known.
 */
export function refuseCalls(libc: Libc, machine: string = process.arch): boolean {
  const filter = callFilter(machine);
  const numberOf = machines[machine];
  if (filter === null || numberOf === undefined) return false;
  const bytes = new DataView(new ArrayBuffer(filter.length * 8));
  for (const [at, [code, whenTrue, whenFalse, value]] of filter.entries()) {
    bytes.setUint16(at * 8, code, true);
    bytes.setUint8(at * 8 + 2, whenTrue);
    bytes.setUint8(at * 8 + 3, whenFalse);
    bytes.setUint32(at * 8 + 4, value, true);
  }
  const program = new BigUint64Array([BigInt(filter.length), BigInt(libc.addressOf(bytes))]);
  if (!libc.forbidNewPrivileges()) return false;
  if (libc.syscall(numberOf.seccomp, setFilter, allThreads, program) !== 0) return false;
  const socket = libc.syscall(refusedCalls.socket[machine === "x64" ? 0 : 1], internet, stream, 0);
  if (socket >= 0) libc.close(socket);
  return socket < 0;
}
