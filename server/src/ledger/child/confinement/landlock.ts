import type { Libc } from "./libc.ts";

/** The same numbers on all machines; Linux, include/uapi/linux/landlock.h. */
const landlockCalls = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const;
const versionFlag = 1;
const beneathPath = 1;

const right = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readDirectory: 1 << 3,
  removeDirectory: 1 << 4,
  removeFile: 1 << 5,
  makeDirectory: 1 << 7,
  makeFile: 1 << 8,
  makeLink: 1 << 12,
  /** Renames and links from one directory into another. */
  refer: 1 << 13,
  truncate: 1 << 14,
} as const;

const read = right.readFile | right.readDirectory;
const own =
  read |
  right.writeFile |
  right.removeDirectory |
  right.removeFile |
  right.makeDirectory |
  right.makeFile |
  right.makeLink |
  right.refer |
  right.truncate;
/** What a path that is granted may be used for, beneath it too. */
const uses = {
  read,
  readFile: right.readFile,
  list: right.readDirectory,
  run: right.readFile | right.execute,
  write: right.readFile | right.writeFile,
  own,
} as const;
const ofFiles = right.execute | right.writeFile | right.readFile | right.truncate;

export interface FileGrant {
  readonly path: string;
  readonly use: keyof typeof uses;
  /**
   * Keeps a descriptor of the path open. A rule belongs to an inode, and /proc makes another one for the same path once
   * nobody holds the first.
   */
  readonly held?: boolean;
}

/** Rights over files that a version of Landlock knows: 13, then one more with versions 2, 3 and 5. */
const handledFiles = (version: number): number => (1 << (13 + Number(version >= 2) + Number(version >= 3))) - 1;
const deviceControl = 1 << 15;
const connectTcp = 1 << 1;
/** Abstract Unix sockets and signals of processes outside. */
const scopes = 0b11;

/** The version of Landlock that the kernel has; less than 1 without one. */
export const landlockVersion = (libc: Libc): number => libc.syscall(landlockCalls.createRuleset, 0, 0, versionFlag);

/**
 * Refuses this thread, and all threads and programs that it starts, every file but those of `grants`, from now on and
 * for good; where the kernel can, also TCP connections and signals to other processes. Paths that do not exist are left
 * out. False, and nothing has changed, where the kernel cannot: before version 2 a file could not be moved into another
 * directory, which the engine does.
 *
 * Source: Linux, Documentation/userspace-api/landlock.rst.
 */
export function confineFiles(libc: Libc, grants: readonly FileGrant[]): boolean {
  const version = landlockVersion(libc);
  if (version < 2) return false;
  const handled = handledFiles(version) | (version >= 5 ? deviceControl : 0);
  const attributes = new BigUint64Array([
    BigInt(handled),
    BigInt(version >= 4 ? connectTcp : 0),
    BigInt(version >= 6 ? scopes : 0),
  ]);
  const ruleset = libc.syscall(landlockCalls.createRuleset, attributes, attributes.byteLength, 0);
  if (ruleset < 0) return false;
  try {
    for (const grant of grants) addRule(libc, { ruleset, handled }, grant);
    return libc.forbidNewPrivileges() && libc.syscall(landlockCalls.restrictSelf, ruleset, 0) === 0;
  } finally {
    libc.close(ruleset);
  }
}

function addRule(
  libc: Libc,
  { ruleset, handled }: { readonly ruleset: number; readonly handled: number },
  { path, use, held = false }: FileGrant,
): void {
  const descriptor = libc.openPath(path);
  if (descriptor < 0) return;
  // Rights of directories are refused for a file, and rights that this version does not know for both.
  const attempts = [uses[use] & handled, uses[use] & handled & ofFiles];
  for (const rights of attempts) {
    const rule = new DataView(new ArrayBuffer(12));
    rule.setBigUint64(0, BigInt(rights), true);
    rule.setInt32(8, descriptor, true);
    if (libc.syscall(landlockCalls.addRule, ruleset, beneathPath, rule, 0) === 0) break;
  }
  if (!held) libc.close(descriptor);
}
