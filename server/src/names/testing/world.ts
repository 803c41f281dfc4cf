import { createHash } from "node:crypto";
import { ManualClock, seededRandom } from "@sluice/lib";
import {
  encodeHandleAccount,
  encodeNameRegistry,
  handleAddress,
  nameRegistryAddress,
  subdomainPrefix,
} from "@sluice/wire/accounts/name-registry";
import { decodeAddress } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";
import { type NameService, nameServices } from "@sluice/wire/name-services";
import { type HttpNodeOptions, httpNode } from "../chain-node.ts";
import type { NamesEvents } from "../events.ts";
import { silentEvents } from "../events.ts";
import { createNames, type Names, type NamesOptions } from "../names.ts";
import { AccountNode } from "./account-node.ts";

export const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

export function keyOf(address: string): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new Error(`${address} is no address`);
  return bytes;
}

export function service(label: NameService["label"]): NameService {
  const found = nameServices.find((each) => each.label === label);
  if (found === undefined) throw new Error(`no service ${label}`);
  return found;
}

/** Two wallets, that is points of the curve, by base58 text. */
export const alice = "86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY" as Address;
export const bob = "J1S9H3QjnRtBbbuD4HjPV6RpRhwuk4zKbxsnCHuTgh9w" as Address;
/** An address that no key belongs to. */
export const strangers = "Crf8hzfthWGbGbLTVCiqRqV5MVnbpHB1L9KQMd6gsinb" as Address;

/** A resolver, the node it reads, the clock it lives by, and ways to put names on the chain. */
export class World implements AsyncDisposable {
  readonly node = new AccountNode();
  readonly clock = new ManualClock(1_000);
  readonly events: string[] = [];
  readonly names: Names;
  readonly #program: Address;

  constructor(
    options: NamesOptions & Partial<HttpNodeOptions> & { readonly on?: NameService["label"] } = {},
    programsThere: readonly Address[] = [service(options.on ?? "devnet").nameProgram],
  ) {
    const { on = "devnet", rpcUrl = this.node.url, timeoutMs, ...rest } = options;
    const http = timeoutMs === undefined ? { rpcUrl } : { rpcUrl, timeoutMs };
    this.#program = service(on).nameProgram;
    for (const program of programsThere) this.node.program(program);
    const events: NamesEvents = {
      ...silentEvents,
      programsFound: (found) => this.events.push(`found ${JSON.stringify(found)}`),
      severalServices: (labels) => this.events.push(`several ${labels.join()}`),
      internalError: (_where, error) => this.events.push(`fault ${String(error)}`),
    };
    this.names = createNames(rest, {
      clock: this.clock,
      random: seededRandom(1),
      node: httpNode(http, { post: fetch }),
      events,
    });
  }

  registry(labels: readonly string[], suffix: string, program = this.#program): Uint8Array {
    let parent = nameRegistryAddress(suffix, {}, keyOf(program), sha256);
    for (const [depth, label] of labels.entries()) {
      const name = depth === 0 ? label : subdomainPrefix + label;
      parent = nameRegistryAddress(name, { parent }, keyOf(program), sha256);
    }
    return parent;
  }

  /** Registers `blog.alice.x1` as ["alice", "blog"], "x1". */
  domain(labels: readonly string[], suffix: string, owner: string, program = this.#program): void {
    const parent = this.registry(labels.slice(0, -1), suffix, program);
    const data = encodeNameRegistry({ parent, owner: keyOf(owner) });
    this.node.put(this.registry(labels, suffix, program), program, data);
  }

  handle(name: string, owner: string): void {
    const program = service("devnet").handleProgram;
    if (program === null) throw new Error("no handle program");
    this.node.program(program);
    const data = encodeHandleAccount({ tag: new Uint8Array(8).fill(1), owner: keyOf(owner), name });
    this.node.put(handleAddress(name, keyOf(program), sha256), program, data);
  }

  async get(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown; headers: Headers }> {
    const response = await this.names.fetch(new Request(`http://resolver${path}`, init));
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text), headers: response.headers };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
  }
}
