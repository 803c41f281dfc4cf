/** Why the operating system refuses a file, and what an operator does about it: two parts of one message. */
export interface FileFault {
  readonly cause: string;
  readonly remedy: string;
}

const elsewhere = "or choose another data directory (DATA_DIR).";
const noRight: FileFault = {
  cause: "this user may not read and write it",
  remedy: `Give the user the right to, ${elsewhere}`,
};
const inTheWay: FileFault = {
  cause: "a file lies where a folder is needed, or a folder where a file is",
  remedy: `Move it away, ${elsewhere}`,
};

const faults: Readonly<Record<string, FileFault>> = {
  EROFS: { cause: "the file system is read-only", remedy: `Make it writable, ${elsewhere}` },
  EACCES: noRight,
  EPERM: noRight,
  ENOSPC: { cause: "the disk is full", remedy: `Make room on it, ${elsewhere}` },
  EDQUOT: { cause: "the quota of the disk is used up", remedy: `Make room, ${elsewhere}` },
  EIO: { cause: "the disk fails", remedy: "Check the disk, and put a copy of the data on a sound one." },
  ENOTDIR: inTheWay,
  EISDIR: inTheWay,
  EEXIST: inTheWay,
};

/** What an error of the system says of a file; null for any other. */
export function fileFaultOf(error: unknown): FileFault | null {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return null;
  return faults[String(error.code)] ?? null;
}

/** The same for the text of such an error, as a child process hands it on. */
export function fileFaultIn(text: string): FileFault | null {
  return faults[/\b(E[A-Z]{2,6}): /.exec(text)?.[1] ?? ""] ?? null;
}
