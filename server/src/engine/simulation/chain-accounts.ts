import { addressBytes } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";
import { type ChainValue, memberOf } from "../../chain/index.ts";
import type { EngineChain } from "../model/chain-port.ts";
import type { AccountSource, RawAccount } from "./simulation.ts";

function rawAccount(value: ChainValue, dataBytes: number | null): RawAccount | null {
  if (value === null) return null;
  const [lamports, owner, executable] = [
    memberOf(value, "lamports"),
    memberOf(value, "owner"),
    memberOf(value, "executable"),
  ];
  const content = memberOf(value, "data");
  const text = Array.isArray(content) ? content[0] : null;
  if (typeof lamports !== "bigint" || typeof owner !== "string" || typeof text !== "string") {
    throw new TypeError("an account without lamports, owner or data");
  }
  const data = Buffer.from(text, "base64");
  const space = memberOf(value, "space");
  return {
    lamports,
    owner: addressBytes(owner as Address),
    executable: executable === true,
    data,
    // A node that does not send it may have cut the data here.
    space: typeof space === "bigint" ? Number(space) : data.length + (data.length === dataBytes ? 1 : 0),
  };
}

/** Accounts by getMultipleAccounts at the processed commitment: bundles run on the newest state. */
export function chainAccounts(chain: Pick<EngineChain, "read">): AccountSource {
  return {
    async accounts(addresses, { minimumSlot, dataBytes }) {
      const slice = dataBytes === null ? {} : { dataSlice: { offset: 0, length: dataBytes } };
      const config = { encoding: "base64", commitment: "processed", ...slice };
      const result = await chain.read("getMultipleAccounts", [addresses, config], {
        commitment: "processed",
        minimumSlot,
      });
      const slot = memberOf(memberOf(result, "context"), "slot");
      const values = memberOf(result, "value");
      if (typeof slot !== "bigint" || !Array.isArray(values)) throw new TypeError("no accounts with a slot");
      return { slot, accounts: values.map((value: ChainValue) => rawAccount(value, dataBytes)) };
    },
  };
}
