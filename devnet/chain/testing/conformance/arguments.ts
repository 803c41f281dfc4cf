import type { RpcMethodSpec } from "@sluice/contract/rpc";
import type { JsonValue } from "@sluice/encode";
import { encodeBase58 } from "@sluice/wire/base58";
import { missingAddress, type World, type WorldName } from "./world.ts";

type Kind = NonNullable<RpcMethodSpec["config"]>["fields"][string];

/** What a method's positional parameter is called in the world, where its kind alone does not say it. */
const worldNames: Readonly<Record<string, WorldName>> = {
  "getAccountInfo/address": "busy address",
  "getProgramAccounts/program": "features",
  "getTokenAccountBalance/token account": "token account",
  "getTokenSupply/mint": "mint",
  "getTokenLargestAccounts/mint": "mint",
  "getTokenAccountsByOwner/owner": "token owner",
  "getTokenAccountsByDelegate/delegate": "delegate",
  "getFeeForMessage/message": "message",
};

const integers: Readonly<Record<string, bigint>> = {
  "getBlocks/end slot": 60n,
  "getBlocksWithLimit/limit": 5n,
  "getMinimumBalanceForRentExemption/data length": 165n,
  "getRecentPerformanceSamples/limit": 3n,
  "requestAirdrop/lamports": 1_000_000n,
  "getSlotLeaders/limit": 4n,
  "getInflationReward/epoch": 1n,
};

/** A value that the method takes at this place. */
export function goodValue(world: World, method: string, name: string, kind: Kind): JsonValue {
  const { names } = world;
  const place = `${method}/${name}`;
  const named = worldNames[place];
  if (named !== undefined) return names[named];
  if (place === "getRecentPrioritizationFees/addresses") return [names["busy address"]];
  if (name === "transaction") return world.transfer();
  if (name === "votePubkey") return names.vote;
  if (name === "identity") return world.node.chain.genesis.validators[0].identity;
  if (name === "range") return { firstSlot: 41n, lastSlot: 50n };
  if (name === "accounts") return { addresses: [names["busy address"]] };
  if (name === "filters") return [{ memcmp: { offset: 0n, bytes: encodeBase58(Uint8Array.of(1)) } }, { dataSize: 9n }];
  switch (kind.kind) {
    case "address":
      return names.vote;
    case "signature":
      return names.signature;
    case "blockhash":
      return names.blockhash;
    case "boolean":
      return true;
    case "dataSlice":
      return { offset: 0n, length: 8n };
    case "tokenFilter":
      return { mint: names.mint };
    case "integer":
      return integers[place] ?? (name.includes("slot") ? names.slot : 1n);
    case "choice":
      return kind.values.at(-1) === "binary" ? "base64" : (kind.values.at(-1) ?? "");
    case "addresses":
      return [names.vote, missingAddress];
    case "signatures":
      return [names.signature];
    default:
      throw new Error(`${place}: no value of kind ${kind.kind} is known`);
  }
}

/** The least that the method can be called with: a transaction then is in base58, as nothing says otherwise. */
export function leastArguments(world: World, spec: RpcMethodSpec): JsonValue[] {
  return spec.parameters
    .filter(({ required }) => required)
    .map(({ name, value }) =>
      name === "transaction" ? world.transfer("base58") : goodValue(world, spec.name, name, value),
    );
}

/** Every positional parameter, and the configuration at its own place. */
export function fullArguments(world: World, spec: RpcMethodSpec, config: JsonValue): JsonValue[] {
  const inBase64 = typeof config === "object" && config !== null && "encoding" in config;
  const positional = spec.parameters.map(({ name, value }) =>
    name === "transaction" ? world.transfer(inBase64 ? "base64" : "base58") : goodValue(world, spec.name, name, value),
  );
  return spec.config === null ? positional : [...positional, config];
}

interface WrongValue {
  readonly value: JsonValue;
  /** What the error says after "Invalid params: invalid type: ", or the whole message. */
  readonly says: RegExp;
}

const type = (shown: string, expected: string): RegExp =>
  new RegExp(`^Invalid params: invalid type: ${shown}, expected ${expected}\\.$`);

/** Values of the wrong JSON type or form for a positional parameter, with what a node answers. */
export function wrongValues(kind: Kind): WrongValue[] {
  const string = [
    { value: 5n, says: type("integer `5`", "a string") },
    { value: true, says: type("boolean `true`", "a string") },
    { value: {}, says: type("map", "a string") },
    { value: [], says: type("sequence", "a string") },
    { value: null, says: type("null", "a string") },
  ];
  switch (kind.kind) {
    case "address":
    case "signature":
    case "blockhash":
      return [
        ...string,
        { value: "", says: /^Invalid param: WrongSize$/ },
        { value: "0OIl", says: /^Invalid param: Invalid$/ },
        { value: "é".repeat(32), says: /^Invalid param: Invalid$/ },
        { value: "1111", says: /^Invalid param: WrongSize$/ },
        { value: "2".repeat(90), says: /^Invalid param: (WrongSize|Invalid)$/ },
      ];
    case "text":
      return string;
    case "integer":
      return [
        { value: "5", says: type('string "5"', "(u64|usize)") },
        { value: 1.5, says: type("floating point `1.5`", "(u64|usize)") },
        { value: -1n, says: /^Invalid params: invalid value: integer `-1`, expected (u64|usize)\.$/ },
        { value: 18446744073709551616n, says: /^Invalid params: invalid (type|value): .+, expected (u64|usize)\.$/ },
        { value: true, says: type("boolean `true`", "(u64|usize)") },
      ];
    case "addresses":
    case "signatures":
      return [
        { value: "1111", says: type('string "1111"', "a sequence") },
        { value: [5n], says: type("integer `5`", "a string") },
        { value: ["1111"], says: /^Invalid param: WrongSize$/ },
      ];
    case "tokenFilter":
      return [
        { value: 5n, says: type("integer `5`", "enum RpcTokenAccountsFilter") },
        { value: { mint: "1111" }, says: /^Invalid param: WrongSize$/ },
      ];
    default:
      return [];
  }
}

/** A value of the wrong type for a member of a configuration; null where any is taken or ignored. */
export function wrongMember(name: string, kind: Kind): JsonValue | null {
  // It is flattened into an option: what it does not know counts as absent.
  if (name === "commitment") return null;
  switch (kind.kind) {
    case "boolean":
      return "yes";
    case "integer":
      return "7";
    case "address":
    case "signature":
    case "blockhash":
      return "not base58!";
    case "choice":
    case "dataSlice":
    case "list":
    case "object":
      return 7n;
    default:
      return null;
  }
}
