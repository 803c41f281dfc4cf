import type { Clock, Log } from "@sluice/lib";
import { parseTransaction } from "@sluice/wire/transaction";
import type { Chain } from "../bank/index.ts";
import { BlockEngineLink, type LinkFacts, type LinkOptions } from "./block-engine-link.ts";
import { loadServices } from "./grpc.ts";

interface BlockEngineLinksDependencies {
  readonly chain: Chain;
  /** Its wall time is the world's, by which tokens expire. */
  readonly clock: Clock;
  readonly log: Log;
}

/** The links of all validators with one block engine, which takes turns in the slots as they do. */
export class BlockEngineLinks implements AsyncDisposable {
  readonly #options: LinkOptions;
  readonly #dependencies: BlockEngineLinksDependencies;
  readonly #services = loadServices();
  readonly #links = new Map<string, BlockEngineLink>();
  #url: string | null = null;
  /** Changes of the engine so far: an older one that is still under way gives way to a newer. */
  #changes = 0;

  constructor(options: LinkOptions, dependencies: BlockEngineLinksDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    dependencies.chain.blockBuilder = (identity) => this.#links.get(identity)?.builder ?? null;
  }

  /** Where the engine is; null when the validators have none. */
  get url(): string | null {
    return this.#url;
  }

  get facts(): readonly LinkFacts[] {
    return [...this.#links.values()].map((link) => link.facts);
  }

  /** Takes the engine at another URL, or with null none. Whether it is there shows in `facts`. */
  async connect(url: string | null): Promise<void> {
    this.#changes += 1;
    const change = this.#changes;
    this.#url = url;
    const old = [...this.#links.values()];
    this.#links.clear();
    await Promise.all(old.map((link) => link[Symbol.asyncDispose]()));
    if (url === null || this.#changes !== change) return;
    const { chain, clock, log } = this.#dependencies;
    for (const { keypair, identity } of chain.genesis.validators) {
      const link = new BlockEngineLink(url, this.#options, {
        services: this.#services,
        keypair,
        clock,
        log,
        bundle: (packets) => chain.bundles.submit(packets, identity),
        packet: ({ data, isDiscarded }) => {
          const parsed = isDiscarded ? null : parseTransaction(data);
          if (parsed?.ok === true) chain.submit(parsed.transaction);
        },
      });
      this.#links.set(identity, link);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connect(null);
  }
}
