import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import type { AccountDataEncoding } from "@sluice/contract/webhooks";
import { BoundedMap, Serial } from "@sluice/lib";
import { encodeBase58 } from "@sluice/wire/base58";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import type { ReadAccountState } from "../../events/index.ts";
import type { AccountAnswer, AccountReads, ReadForm } from "./account-reads.ts";

/** Data that base58 presents at most, in bytes; longer ones are told in base64, as the encoding beside them says. */
const base58BytesMax = 128;
/** Data beyond it are not told; their size is. */
const dataBytesMax = 1024 * 1024;
/** Accounts of which the last data are known. */
const knownMax = 200_000;
/** Accounts that may wait to be observed; of those beyond it the first write is told. */
const observedMax = 20_000;
/** Accounts that are observed at a time, so that what deliveries wait for is read beside them. */
const observedAtOnce = 100;
/** Blocks and accounts of which it was found whether the data changed. */
const verdictsMax = 20_000;

export interface AccountStateQuestion {
  readonly network: Network;
  readonly account: string;
  /** Of the block that wrote it. */
  readonly slot: bigint;
  readonly encoding: AccountDataEncoding;
}

interface Known {
  readonly slot: bigint;
  readonly hash: string;
}

const formOf = (encoding: AccountDataEncoding): ReadForm => (encoding === "jsonParsed" ? "jsonParsed" : "base64");

/** What nodes have of accounts after blocks wrote them, and whether their data changed. */
export class AccountStates {
  readonly #reads: Pick<AccountReads, "read">;
  readonly #known = new BoundedMap<string, Known>({ max: knownMax });
  readonly #observing = new Serial();
  #toObserve = 0;
  readonly #verdicts = new BoundedMap<string, Promise<boolean>>({ max: verdictsMax });

  constructor(reads: Pick<AccountReads, "read">) {
    this.#reads = reads;
  }

  /** The state as it is told; null where no node told it in time. */
  async read({ network, account, slot, encoding }: AccountStateQuestion): Promise<ReadAccountState | null> {
    const read = await this.#reads.read({ network, account, slot, form: formOf(encoding) });
    return read === null ? null : stateOf(read, encoding);
  }

  /**
   * Whether the data changed with a block. It is said to where that cannot be known: nothing was read before the block,
   * or nothing could be read after it.
   */
  async changed(question: AccountStateQuestion): Promise<boolean> {
    const { network, account, slot, encoding } = question;
    const key = `${network} ${account} ${slot} ${formOf(encoding)}`;
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = this.#find(question);
      this.#verdicts.set(key, verdict);
    }
    return await verdict;
  }

  /** Reads what accounts hold now, so that the first block that writes one of them is compared with it. */
  async observe(accounts: readonly string[], of: Omit<AccountStateQuestion, "account">): Promise<void> {
    const taken = accounts.slice(0, Math.max(0, observedMax - this.#toObserve));
    this.#toObserve += taken.length;
    for (let first = 0; first < taken.length; first += observedAtOnce) {
      const together = taken.slice(first, first + observedAtOnce);
      await this.#observing.run(() => this.#observe(together, of));
      this.#toObserve -= together.length;
    }
  }

  async #observe(accounts: readonly string[], { network, slot, encoding }: Omit<AccountStateQuestion, "account">) {
    const form = formOf(encoding);
    await Promise.all(
      accounts.map(async (account) => {
        if (this.#known.has(`${network} ${account} ${form}`)) return;
        const read = await this.#reads.read({ network, account, slot, form });
        if (read !== null) this.#note({ network, account, form }, read);
      }),
    );
  }

  async #find({ network, account, slot, encoding }: AccountStateQuestion): Promise<boolean> {
    const form = formOf(encoding);
    const read = await this.#reads.read({ network, account, slot, form });
    if (read === null) return true;
    const before = this.#note({ network, account, form }, read);
    // What was read at the block or later says nothing of what was before it.
    return before === undefined || before.slot >= slot || before.hash !== hashOf(read);
  }

  /** Remembers what is the newest; gives what was known. */
  #note(
    { network, account, form }: { readonly network: Network; readonly account: string; readonly form: ReadForm },
    read: AccountAnswer,
  ): Known | undefined {
    const key = `${network} ${account} ${form}`;
    const known = this.#known.get(key);
    if (known === undefined || known.slot < read.slot) this.#known.set(key, { slot: read.slot, hash: hashOf(read) });
    return known;
  }
}

function hashOf({ account }: AccountAnswer): string {
  const text = account === null ? "" : stringifyJsonExact([account["owner"] ?? null, account["data"] ?? null]);
  return createHash("sha256").update(text).digest("base64");
}

const integerOf = (value: JsonValue | undefined): bigint | null =>
  typeof value === "number" || typeof value === "bigint" ? BigInt(value) : null;

function stateOf({ slot, account }: AccountAnswer, encoding: AccountDataEncoding): ReadAccountState {
  if (account === null) return { slot, owner: null, executable: null, rentEpoch: null, data: "null", dataSize: null };
  const { owner, executable } = account;
  const data = account["data"] ?? null;
  const dataSize = sizeOf(account);
  const isTooLarge = dataSize !== null && dataSize > BigInt(dataBytesMax);
  return {
    slot,
    owner: typeof owner === "string" ? owner : null,
    executable: typeof executable === "boolean" ? executable : null,
    rentEpoch: integerOf(account["rentEpoch"]),
    data: isTooLarge ? "null" : stringifyJsonExact(presented(data, encoding)),
    dataSize,
  };
}

function sizeOf(account: Readonly<Record<string, JsonValue | undefined>>): bigint | null {
  const space = integerOf(account["space"]);
  if (space !== null) return space;
  const bytes = bytesOf(account["data"] ?? null);
  return bytes === null ? null : BigInt(bytes.length);
}

function bytesOf(data: JsonValue): Uint8Array | null {
  if (!Array.isArray(data)) return null;
  const [text, encoding]: readonly unknown[] = data;
  return typeof text === "string" && encoding === "base64" ? Buffer.from(text, "base64") : null;
}

function presented(data: JsonValue, encoding: AccountDataEncoding): JsonValue {
  if (encoding !== "base58") return data;
  const bytes = bytesOf(data);
  return bytes === null || bytes.length > base58BytesMax ? data : [encodeBase58(bytes), "base58"];
}
