import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { type ChainNode, member } from "./chain-node.ts";

/** Commitments that a reorganisation does not take back in practice (confirmed) or at all (finalized). */
export type SettledCommitment = "confirmed" | "finalized";

export interface AccountView {
  /** The program that owns the account. */
  readonly program: Address;
  readonly executable: boolean;
  /** The first `dataBytesRead` bytes, or all when there are fewer. */
  readonly data: Uint8Array;
}

/** How much of an account is asked for: more than any layout that is read here. */
export const dataBytesRead = 512;

/**
 * What the resolver asks of a node. Null is every kind of failure: no connection, too late, an HTTP or JSON-RPC error,
 * an answer of another shape.
 */
export interface ChainReader {
  /** One entry for each address, in order; null where there is no account. At most 100 addresses. */
  getMultipleAccounts(addresses: readonly Address[]): Promise<readonly (AccountView | null)[] | null>;
  /** Accounts of `program` that hold `bytes` (base58 text) at `offset`. */
  getProgramAccounts(
    program: Address,
    match: { readonly offset: number; readonly bytes: Address },
  ): Promise<readonly { readonly address: Address; readonly account: AccountView }[] | null>;
  /** The core version of the node. */
  getVersion(): Promise<string | null>;
}

export interface ChainReaderOptions {
  readonly commitment: SettledCommitment;
}

const versionLengthMax = 128;

/** Reads the accounts and the version that a node's answers hold. */
export function createChainReader(options: ChainReaderOptions, { node }: { readonly node: ChainNode }): ChainReader {
  const call = (method: string, params: unknown): Promise<unknown> => node.call(method, params);
  const view = { encoding: "base64", commitment: options.commitment, dataSlice: { offset: 0, length: dataBytesRead } };
  return {
    async getMultipleAccounts(addresses) {
      const value = member(await call("getMultipleAccounts", [addresses, view]), "value");
      if (!Array.isArray(value) || value.length !== addresses.length) return null;
      return readEach(value, (each) => (each === null ? null : readAccount(each)));
    },
    async getProgramAccounts(program, match) {
      const filters = [{ memcmp: match }];
      const value = await call("getProgramAccounts", [program, { ...view, filters }]);
      if (!Array.isArray(value)) return null;
      return readEach(value, (each) => {
        const address = parseAddress(member(each, "pubkey"));
        const account = readAccount(member(each, "account"));
        return address === null || account === undefined ? undefined : { address, account };
      });
    },
    async getVersion() {
      const version = member(await call("getVersion", []), "solana-core");
      return typeof version === "string" && version !== "" && version.length <= versionLengthMax ? version : null;
    },
  };
}

/** Null as soon as one entry cannot be read: an answer that is wrong in one place is not believed in another. */
function readEach<T>(values: readonly unknown[], read: (value: unknown) => T | undefined): readonly T[] | null {
  const found: T[] = [];
  for (const value of values) {
    const entry = read(value);
    if (entry === undefined) return null;
    found.push(entry);
  }
  return found;
}

function readAccount(value: unknown): AccountView | undefined {
  const program = parseAddress(member(value, "owner"));
  const data = member(value, "data");
  if (program === null || !Array.isArray(data) || data.length !== 2 || data[1] !== "base64") return undefined;
  const bytes = readBase64(data[0]);
  return bytes === null ? undefined : { program, executable: member(value, "executable") === true, data: bytes };
}

function readBase64(text: unknown): Uint8Array | null {
  if (typeof text !== "string") return null;
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return null;
  }
}
