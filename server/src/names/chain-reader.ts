import { type Address, parseAddress } from "@sluice/wire/identifiers";

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
  readonly rpcUrl: string;
  readonly commitment: SettledCommitment;
  /** For the whole exchange, the answer's last byte included. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
}

/**
 * The way out, which is the platform's `fetch` handed in by the composition. chain's own call is not used: it takes an
 * answer whatever its HTTP status and reads it whole before it looks at its size, and a name is money.
 */
export type PostJson = (url: string, init: RequestInit) => Promise<Response>;

const versionLengthMax = 128;

/** A reader of one node. A URL's user info goes into a header; redirects are refused. */
export function createChainReader(options: ChainReaderOptions, dependencies: { post: PostJson }): ChainReader {
  const { url, headers } = splitCredentials(options.rpcUrl);
  let nextId = 1;
  const exchange = async (body: string): Promise<unknown> => {
    const response = await postOnce(dependencies.post, url, {
      method: "POST",
      headers,
      body,
      redirect: "error",
      signal: AbortSignal.timeout(options.timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return undefined;
    }
    return JSON.parse(await readText(response, options.answerBytesMax));
  };
  const call = async (method: string, params: unknown): Promise<unknown> => {
    const id = nextId++;
    try {
      const answer = await exchange(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      // An answer under another id belongs to another call: a cache in between that mixes them up must not name an
      // owner.
      if (member(answer, "jsonrpc") !== "2.0" || member(answer, "id") !== id) return undefined;
      const error = member(answer, "error");
      return error === undefined || error === null ? member(answer, "result") : undefined;
    } catch {
      return undefined;
    }
  };
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

function splitCredentials(rpcUrl: string): { url: string; headers: Record<string, string> } {
  const parsed = new URL(rpcUrl);
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  if (parsed.username !== "" || parsed.password !== "") {
    const pair = `${decoded(parsed.username)}:${decoded(parsed.password)}`;
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
    parsed.username = "";
    parsed.password = "";
  }
  return { url: parsed.href, headers };
}

/** User info that is no percent-encoding is taken as it was typed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A node may close an idle connection just as it is used again; fetch repeats a GET then, and not a POST. */
async function postOnce(post: PostJson, url: string, init: RequestInit): Promise<Response> {
  try {
    return await post(url, init);
  } catch (error) {
    if (member(error, "code") !== "ECONNRESET") throw error;
    return await post(url, init);
  }
}

/** The whole body as text; throws RangeError past `bytesMax` without reading on, TypeError when it is no UTF-8. */
async function readText(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) throw new RangeError(`the answer is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, name) ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
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
