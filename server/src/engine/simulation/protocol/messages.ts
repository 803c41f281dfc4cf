/**
 * What goes between the simulator and a machine's process, over a Unix socket. Each frame is a u32 length, a kind and its
 * fields, little-endian. Accounts go by handles, small numbers that the simulator gives; a frame of kind `run` is answered
 * by one of the same kind, in order, and nothing else is answered.
 */
export const FRAME = {
  /** From the machine, once: its process id as a u32. */
  hello: 1,
  /** A u8 count and so many tip accounts, 32 bytes each. Comes first. */
  configure: 2,
  /** A u32 count and so many handles that are free again. */
  forget: 3,
  /** A u32 count and so many accounts: handle u32, key 32, what it is u8, then lamports, owner and data
   * unless that says it all. */
  accounts: 4,
  /** A u16 count and so many bundles; the answer has so many outcomes. */
  run: 5,
  /** A u32, the number of a block that is closed. */
  closeBlock: 6,
} as const;

/** Flags of a bundle. */
export const VERIFY = 1;
/** It may put programs in place: what the machine compiled for it is thrown away. */
export const DEPLOYS = 2;
/** Its effects stay in its block. */
export const KEEP = 4;

/** In place of a block's number: the bundle runs on the newest state alone. */
export const NO_BLOCK = 0;
/** In place of a handle: the transaction carries a blockhash. */
export const NO_NONCE = 0xffff_ffff;

/** What an account is: no more, one without a program's flag, one with it, one that the machine brings. */
export const GONE = 0;
export const PLAIN = 1;
export const EXECUTABLE = 2;
export const BROUGHT = 3;

/** How a bundle ended; after the last two comes the u8 index of the transaction. */
export const SUCCEEDED = 0;
export const FAILED = 1;
export const WRONG_NONCE = 2;

export const protocolBounds = {
  /** Accounts go in frames of about so many bytes. */
  accountsFrameBytes: 1_024 * 1_024,
  /** The last lines that a failed transaction logged, and their characters altogether. */
  logLines: 32,
  logCharacters: 4_096,
} as const;
