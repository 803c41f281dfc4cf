import { decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";

export interface StubAccount {
  readonly program: string;
  readonly data: Uint8Array;
  readonly executable?: boolean;
}

export interface StubCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** How a node answers a call instead of doing its duty; null lets it do that. */
export type Misbehaviour = (call: StubCall) => Response | null | Promise<Response | null>;

/** A node with accounts that a test puts there, which answers the calls of the resolver as a node does. */
export class AccountNode implements AsyncDisposable {
  readonly accounts = new Map<string, StubAccount>();
  readonly calls: StubCall[] = [];
  readonly headers: Headers[] = [];
  misbehave: Misbehaviour = () => null;
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      development: false,
      idleTimeout: 60,
      fetch: async (request) => await this.#answer(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  put(address: Address | Uint8Array, program: string, data: Uint8Array, executable = false): void {
    this.accounts.set(typeof address === "string" ? address : addressOfBytes(address), { program, data, executable });
  }

  remove(address: Uint8Array): void {
    this.accounts.delete(addressOfBytes(address));
  }

  program(address: Address): void {
    this.put(address, "NativeLoader1111111111111111111111111111111", new Uint8Array(4), true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const call: StubCall = await request.json();
    this.calls.push(call);
    this.headers.push(request.headers);
    const odd = await this.misbehave(call);
    return odd ?? resultOf(call, this.#result(call));
  }

  #result({ method, params }: StubCall): unknown {
    const slice = 512;
    if (method === "getVersion") return { "solana-core": "2.2.16", "feature-set": 1 };
    if (method === "getMultipleAccounts") {
      const value = (params[0] as string[]).map((address) => present(this.accounts.get(address), slice));
      return { context: { slot: 7 }, value };
    }
    const [program, config] = params as [string, { filters: { memcmp: { offset: number; bytes: string } }[] }];
    const matches = ([, account]: [string, StubAccount]): boolean =>
      account.program === program &&
      config.filters.every(({ memcmp }) => {
        const prefix = decodeAddress(memcmp.bytes) ?? new Uint8Array();
        return Buffer.compare(account.data.subarray(memcmp.offset, memcmp.offset + prefix.length), prefix) === 0;
      });
    return [...this.accounts]
      .filter(matches)
      .map(([pubkey, account]) => ({ pubkey, account: present(account, slice) }));
  }
}

function present(account: StubAccount | undefined, slice: number): object | null {
  if (account === undefined) return null;
  return {
    lamports: 1_000_000,
    owner: account.program,
    executable: account.executable ?? false,
    rentEpoch: 0,
    space: account.data.length,
    data: [Buffer.from(account.data.subarray(0, slice)).toString("base64"), "base64"],
  };
}

export function resultOf(call: StubCall, result: unknown): Response {
  return Response.json({ jsonrpc: "2.0", id: call.id, result });
}
