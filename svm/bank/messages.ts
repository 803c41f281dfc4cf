/**
 * What goes between the bank's process and the machine's. Each frame is a u32 length, a kind and its fields,
 * little-endian; each request has one answer, of its own kind, and they come in the order of the requests.
 */
export const REQUEST = {
  /** The next nonce value (32), a u16 count, and so many transactions. */
  execute: 1,
  /** A transaction, a u32 count, and so many accounts to lay over the newest state. */
  simulate: 2,
  /** A u32 count and so many accounts. The answer is a text: what went wrong with the first that was not taken. */
  write: 3,
  genesisAccounts: 4,
  /** A machine with empty caches takes the place of this one; writes follow, then `endRebuild`. */
  beginRebuild: 5,
  endRebuild: 6,
  /** As `execute`, but all or nothing; the answer has as many outcomes as ran. */
  executeBundle: 7,
  /** As `executeBundle`, then a u32 count and so many accounts to lay over the newest state; nothing is kept. */
  simulateBundle: 8,
} as const;

/** Flags of a transaction. */
export const VERIFY = 1;
export const LEGACY = 2;
export const MOVES_LAMPORTS_ONLY = 4;
/** In place of a position: the transaction advances no nonce. */
export const NO_NONCE = 0xff;

/** Flags of an outcome. */
export const INCLUDED = 1;
export const FAILED = 2;
export const CALLS = 4;
export const RETURNS = 8;

/** In place of the number of a log line: a line that takes the next number, and one that takes none. */
export const NEW_LINE = 0xfffe;
export const BARE_LINE = 0xffff;
/** Lines that have a number, of each process; both sides count them alike. */
export const NUMBERED_LINES_MAX = 4_096;

/** What an account is: no more, one without a program's flag, one with it. */
export const GONE = 0;
export const PLAIN = 1;
export const EXECUTABLE = 2;
