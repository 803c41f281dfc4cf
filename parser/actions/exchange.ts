import type { TokenMovement } from "../neutral/movements.ts";
import type { Context } from "./context.ts";

/** Who gave one token and got another in a range of calls. */
export interface Exchange {
  readonly user: string;
  readonly given: TokenMovement;
  readonly got: TokenMovement;
}

/** Whether a token may be one of a kind, which are sold and not swapped. */
function isUnit({ decimals, amount }: TokenMovement): boolean {
  return decimals === 0 && amount === 1n;
}

/**
 * An exchange that movements alone prove: a signer gave one token and got another by transfers, of which something is
 * left to him, and one party stands on the other side of both. Null where there is none. What is minted or burned does
 * not count: that is how pools give out and take back their shares.
 */
export function exchangeIn(context: Context, start: number, end: number): Exchange | null {
  const transfers = context
    .tokensIn(start, end)
    .filter((movement) => movement.kind === "transfer" && movement.amount > 0n && !isUnit(movement));
  for (const given of transfers) {
    const { fromOwner: user, toOwner: party } = given;
    if (user === null || party === null || party === user || !context.signers.has(user)) continue;
    const got = transfers.find(
      ({ fromOwner, toOwner, mint }) =>
        fromOwner === party &&
        toOwner === user &&
        mint !== null &&
        given.mint !== null &&
        mint !== given.mint &&
        keeps(transfers, user, mint),
    );
    if (got !== undefined) return { user, given, got };
  }
  return null;
}

/** Whether more of a token came to an owner than went from him. */
function keeps(transfers: readonly TokenMovement[], owner: string, mint: string): boolean {
  let left = 0n;
  for (const { mint: moved, fromOwner, toOwner, amount, fee } of transfers) {
    if (moved !== mint) continue;
    if (toOwner === owner) left += amount - fee;
    if (fromOwner === owner) left -= amount;
  }
  return left > 0n;
}

/** An exchange whoever is on the other side: for programs that are known to exchange. */
export function looseExchangeIn(context: Context, start: number, end: number): Exchange | null {
  const moved = context.tokensIn(start, end).filter(({ amount }) => amount > 0n);
  for (const given of moved) {
    const { fromOwner: user } = given;
    if (user === null || !context.signers.has(user) || given.toOwner === user || given.kind === "unwrap") continue;
    const got = moved.find(
      ({ fromOwner, toOwner, mint, kind }) =>
        toOwner === user && fromOwner !== user && mint !== given.mint && kind !== "wrap" && kind !== "mint",
    );
    if (got !== undefined) return { user, given, got };
  }
  return null;
}
