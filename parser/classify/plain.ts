import { programs } from "@sluice/wire/programs";
import type { Context } from "../actions/context.ts";
import type { Action } from "../actions/read-actions.ts";
import { isWrapped } from "../neutral/token-accounts.ts";
import { tokenCalls } from "../neutral/token-calls.ts";
import { tipAccounts } from "./tip-accounts.ts";

/** What a call to the chain's own programs comes to, once it is known what it serves. */
export type PlainDeed = "transfer" | "tip" | "wrap" | "create_account" | "close_account" | "nothing";

/** Whether lamports go into an account of wrapped native tokens that their sender has. */
function wraps(context: Context, from: string, to: string): boolean {
  const account = context.tokenAccounts.get(to);
  if (account !== undefined) return isWrapped(account.mint) && (account.owner === from || account.owner === null);
  // Where nothing tells whose account it is, what makes its lamports tokens tells what they are for.
  return context.view.calls.some((call) =>
    tokenCalls(call).some((each) => each.type === "sync" && context.view.keys[each.account] === to),
  );
}

function closedWithin(context: Context, account: string): boolean {
  const key = context.view.keys.indexOf(account);
  const before = context.view.meta?.preBalances[key] ?? 0n;
  const after = context.view.meta?.postBalances[key] ?? 0n;
  return context.view.succeeded && before === 0n && after === 0n;
}

/** The account that a call opens or closes. */
export function accountOf(context: Context, { programId, start }: Action): string {
  const call = context.view.calls[start];
  if (call === undefined) return "";
  const opened = programId === programs.system || programId === programs.associatedToken ? 1 : 0;
  return context.view.accountOf(call, call.data[0] === 13 && programId === programs.system ? 0 : opened);
}

interface Closing {
  readonly account: string;
  /** Who may close it and did; empty where the call does not name him. */
  readonly owner: string;
}

/** The accounts that a call closes: several in a batch alone. */
export function closingsOf({ view }: Context, { programId, start }: Action): readonly Closing[] {
  const call = view.calls[start];
  if (call === undefined) return [];
  const closings = tokenCalls(call).flatMap((each) =>
    each.type === "close" ? [{ account: view.keys[each.account] ?? "", owner: view.keys[each.by] ?? "" }] : [],
  );
  if (closings.length > 0) return closings;
  const position = programId === programs.addressLookupTable ? 1 : programId === programs.system ? 4 : 2;
  return [{ account: view.accountOf(call, 0), owner: view.accountOf(call, position) }];
}

/** What an action of the chain's own programs comes to. */
export function plainDeed(context: Context, action: Action): PlainDeed {
  const { does, programId, start } = action;
  const call = context.view.calls[start];
  if (call === undefined) return "nothing";
  if (does === "create_account")
    return closedWithin(context, accountOf(context, action)) ? "nothing" : "create_account";
  if (does === "close_account") {
    return closingsOf(context, action).every(({ account }) => closedWithin(context, account)) ? "nothing" : does;
  }
  if (programId === programs.system) {
    const from = context.view.accountOf(call, 0);
    const to = context.view.accountOf(call, call.data[0] === 11 ? 2 : 1);
    if (tipAccounts.has(to)) return "tip";
    return wraps(context, from, to) ? "wrap" : "transfer";
  }
  // Whoever takes back what was wrapped has moved nothing to another.
  const unwraps = tokenCalls(call).every((each) => each.type === "unwrap");
  const owner = context.tokenAccounts.get(context.view.accountOf(call, 0))?.owner;
  if (unwraps && tokenCalls(call).length > 0) {
    return owner === context.view.accountOf(call, 1) ? "wrap" : "transfer";
  }
  return "transfer";
}
