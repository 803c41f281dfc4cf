import { dlopen, FFIType, ptr } from "bun:ffi";

/** Memory that a call reads. */
type Bytes = DataView | NodeJS.TypedArray;

/** What the confinement asks of Linux's C library. Results are those of the functions: -1 for a failure. */
export interface Libc {
  syscall(number: number, ...values: readonly (number | Bytes)[]): number;
  /** Where its bytes are; they stay there as long as it is in use. */
  addressOf(bytes: Bytes): number;
  /** Of this thread and of all that it starts: no program that it runs gains rights. Cannot be undone. */
  forbidNewPrivileges(): boolean;
  /** A descriptor by which a path is named, open for nothing else; programs that this process becomes have it too. */
  openPath(path: string): number;
  close(descriptor: number): void;
  /** No memory of the process is written to disk when it crashes. */
  forbidCoreDumps(): void;
  /** Replaces the program of this process, in the same environment; returns only where that fails. */
  execute(path: string, words: readonly string[]): void;
}

const pathOnly = 0o10000000;
const noNewPrivileges = 38;
const coreSize = 4;

const load = () =>
  dlopen("libc.so.6", {
    syscall: {
      args: [FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64],
      returns: FFIType.i64,
    },
    prctl: { args: [FFIType.i32, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64], returns: FFIType.i32 },
    open: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
    setrlimit: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    execv: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  }).symbols;

const text = (value: string): Buffer => Buffer.from(`${value}\0`);

/** The library of this process; null where there is none of this kind (not Linux, or not with glibc). */
export function openLibc(): Libc | null {
  if (process.platform !== "linux") return null;
  let symbols: ReturnType<typeof load>;
  try {
    symbols = load();
  } catch {
    return null;
  }
  return {
    syscall(number, ...values) {
      const [a = 0, b = 0, c = 0, d = 0, e = 0] = values.map((value) =>
        typeof value === "number" ? value : ptr(value),
      );
      return Number(symbols.syscall(number, a, b, c, d, e));
    },
    addressOf: (bytes) => ptr(bytes),
    forbidNewPrivileges: () => symbols.prctl(noNewPrivileges, 1, 0, 0, 0) === 0,
    openPath: (path) => symbols.open(text(path), pathOnly),
    close: (descriptor) => void symbols.close(descriptor),
    forbidCoreDumps: () => void symbols.setrlimit(coreSize, new BigUint64Array(2)),
    execute(path, words) {
      const texts = words.map(text);
      symbols.execv(text(path), new BigUint64Array([...texts.map((word) => BigInt(ptr(word))), 0n]));
      // The texts have to live until here: only their addresses are in the list.
      texts.length = 0;
    },
  };
}
