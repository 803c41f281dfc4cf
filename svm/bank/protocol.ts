/**
 * Messages between a bank's process and its machine's, beside the messages of every machine. Each request has one
 * kind of answer.
 */
export const requests = {
  /** The next nonce value (32), a u16 count, and so many transactions. */
  execute: 1,
  /** A transaction, a u32 count, and so many accounts that replace those of the newest state. */
  simulate: 2,
  /** A u32 count and so many accounts. The answer is a text: the error of the first that was not taken, or nothing. */
  write: 3,
  genesisAccounts: 4,
  /** A machine with empty caches replaces this one; writes follow, then `endRebuild`. */
  beginRebuild: 5,
  endRebuild: 6,
  /** As `execute`, but all or nothing; the answer has as many outcomes as ran. */
  executeBundle: 7,
  /** As `executeBundle`, then a u32 count and so many accounts as in `simulate`; nothing is kept. */
  simulateBundle: 8,
} as const;

/** Flags of a transaction. */
export const transactionFlags = { verify: 1, legacy: 2, movesLamportsOnly: 4 } as const;
/** In place of a position: the transaction advances no nonce. */
export const noNonce = 0xff;

/** Flags of an outcome. */
export const outcomeFlags = { included: 1, failed: 2, calls: 4, returns: 8 } as const;

/**
 * Log lines that come with every call of a program are sent once in each life and by their number afterwards; both
 * sides number them alike. In place of a number: `numbered` is a line that takes the next one, `bare` a line that takes
 * none.
 */
export const logLines = { numbered: 0xfffe, bare: 0xffff, numbersMax: 4_096 } as const;
