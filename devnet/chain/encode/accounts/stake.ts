import type { ChainAccount } from "../../model.ts";
import { ByteCursor, Unparsable } from "../byte-cursor.ts";
import type { JsonObject } from "../json.ts";

function meta(cursor: ByteCursor): JsonObject {
  return {
    rentExemptReserve: cursor.u64().toString(),
    authorized: { staker: cursor.address(), withdrawer: cursor.address() },
    lockup: { unixTimestamp: cursor.i64(), epoch: cursor.u64(), custodian: cursor.address() },
  };
}

function stake(cursor: ByteCursor): JsonObject {
  const delegation = {
    voter: cursor.address(),
    stake: cursor.u64().toString(),
    activationEpoch: cursor.u64().toString(),
    deactivationEpoch: cursor.u64().toString(),
  };
  // Eight bytes that once held a rate of warm-up are reserved now and not shown.
  cursor.bytes(8);
  return { delegation, creditsObserved: cursor.u64() };
}

/** Presents a stake account: lamports and epochs of the delegation as text, the rest as numbers. */
export function parseStakeAccount(_address: string, account: ChainAccount): JsonObject {
  const cursor = new ByteCursor(account.data);
  switch (cursor.u32()) {
    case 0:
      return { type: "uninitialized" };
    case 1:
      return { type: "initialized", info: { meta: meta(cursor), stake: null } };
    case 2:
      return { type: "delegated", info: { meta: meta(cursor), stake: stake(cursor) } };
    case 3:
      return { type: "rewardsPool" };
    default:
      throw new Unparsable("The stake state is unknown.");
  }
}
