import type { Random } from "@sluice/lib";

/**
 * Makes request ids: "req_", 16 hex characters drawn once at start, "-", and a counter in base 36. Two servers meet
 * only when their 64 random bits do, one server never repeats, and an id costs a string join instead of a draw of
 * randomness. Ids are names, not secrets: they can be guessed and must open nothing.
 */
export function createRequestIds(dependencies: { random: Random }): () => string {
  const prefix = `req_${Buffer.from(dependencies.random.bytes(8)).toString("hex")}-`;
  let counter = 0;
  return () => {
    counter += 1;
    return prefix + counter.toString(36);
  };
}
