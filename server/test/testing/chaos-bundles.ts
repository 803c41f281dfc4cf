/**
 * Draws the bundles of the campaign of chaos: sound ones, ones that fight over an account, and every kind of wrong one.
 */
import { decodeAddress } from "@sluice/wire/base58";
import type { Transaction } from "@sluice/wire/transaction";
import { tipAccounts } from "../../../devnet/chain/consensus/tips/tip-programs.ts";
import { GenesisKeypair } from "../../../devnet/chain/model/keypair.ts";
import { airdropTransaction } from "../../../devnet/chain/rpc/airdrop.ts";
import type { TextRandom } from "../../../devnet/random.ts";
import { type Sealing, sealings } from "./chaos-sealed.ts";

export const bundleKinds = [
  "plain",
  "conflicting",
  "failing",
  "targeted",
  "old",
  "fresh",
  "underpaid",
  "shared",
  "again",
  "doubled",
  "spoilt",
  "hostile",
] as const;
export type BundleKind = (typeof bundleKinds)[number];

/**
 * Kinds that are also handed in encrypted, of a hundred how many, and of a hundred of those how many in a wrong way.
 */
const sealedKinds: ReadonlySet<BundleKind> = new Set(["plain", "conflicting", "failing", "targeted", "shared"]);
const sealedShare = 12;
const wronglySealedShare = 35;

/** Of a hundred. */
const weights: Readonly<Record<BundleKind, number>> = {
  plain: 30,
  conflicting: 20,
  failing: 8,
  targeted: 8,
  old: 6,
  fresh: 6,
  underpaid: 5,
  shared: 5,
  again: 4,
  doubled: 2,
  spoilt: 2,
  hostile: 4,
};

/** What is handed in. */
export interface DrawnBundle {
  readonly kind: BundleKind;
  readonly transactions: readonly Uint8Array[];
  /** Of the transactions; empty where these are no transactions. */
  readonly signatures: readonly string[];
  readonly tip: bigint;
  readonly targetSlot: bigint | null;
  /** How it is encrypted; null for one that is not. */
  readonly sealing: Sealing | null;
}

/** What is known of the chain when a bundle is drawn. */
export interface ChainMoment {
  readonly slot: bigint;
  /** Of a finalized block. */
  readonly final: string;
  /** Of a confirmed block, which only a deep fork may take away. */
  readonly settled: string;
  /** Of the newest block, which a fork may take away. */
  readonly newest: string;
  /** Of a block that is nearly too old, or just is. */
  readonly old: string;
}

const richCount = 96;
const poorCount = 12;
/** What a poor payer is given now and then: enough for one of two bundles that want it at once. */
export const poorLamports = 10_000_000n;
export const richLamports = 50_000_000_000n;
const poorWants = 6_000_000n;
/** More than anybody holds. */
const tooMuch = 10_000_000_000_000n;
const tipLeast = 1_000n;
const lateKept = 64;
/**
 * Of a hundred bundles that are neither old nor fresh: how many have the blockhash of a block that may still be lost.
 */
const settledShare = 15;
const distinctMax = 8_000;

const tipKeys = tipAccounts.map((address) => decodeAddress(address) ?? new Uint8Array(32));

export class BundleMill {
  readonly rich = Array.from({ length: richCount }, (_, index) => new GenesisKeypair("chaos rich", String(index)));
  readonly poor = Array.from({ length: poorCount }, (_, index) => new GenesisKeypair("chaos poor", String(index)));
  readonly #draw: TextRandom;
  readonly #late: DrawnBundle[] = [];
  #distinct = 0;

  constructor(draw: TextRandom) {
    this.#draw = draw;
  }

  /** The next bundle, for a chain at this moment. */
  next(moment: ChainMoment): DrawnBundle {
    const kind = this.#kind();
    const bundle = { ...this.#make(kind, moment), sealing: this.#sealing(kind) };
    if (kind === "plain" || kind === "conflicting" || kind === "shared") {
      this.#late.push(bundle);
      if (this.#late.length > lateKept) this.#late.shift();
    }
    return bundle;
  }

  #sealing(kind: BundleKind): Sealing | null {
    const draw = this.#draw;
    if (!sealedKinds.has(kind) || draw.below(100) >= sealedShare) return null;
    return draw.below(100) < wronglySealedShare ? draw.pick(sealings) : "sound";
  }

  #kind(): BundleKind {
    let left = this.#draw.below(100);
    for (const kind of bundleKinds) {
      left -= weights[kind];
      if (left < 0) return kind;
    }
    return "plain";
  }

  #make(kind: BundleKind, moment: ChainMoment): DrawnBundle {
    const draw = this.#draw;
    const tip = tipLeast + BigInt(draw.magnitude(0, 6));
    const hashes = { old: moment.old, fresh: moment.newest };
    const known = draw.below(100) < settledShare ? moment.settled : moment.final;
    const blockhash = kind === "old" || kind === "fresh" ? hashes[kind] : known;
    const late = draw.pick(this.#late);
    switch (kind) {
      case "again":
        return late === null ? this.#make("plain", moment) : { ...late, kind };
      case "hostile":
        return { ...written(kind, [], tip), transactions: this.#hostile(blockhash) };
      case "underpaid": {
        const isBelowFloor = draw.below(2) === 0;
        const transactions = this.#payments(blockhash, isBelowFloor ? tipLeast - 1n : tip);
        return written(kind, transactions, isBelowFloor ? tipLeast - 1n : tip + 1n);
      }
      case "targeted": {
        const targetSlot = moment.slot + BigInt(draw.below(24)) - 2n;
        const isFar = draw.below(16) === 0;
        return { ...written(kind, this.#payments(blockhash, tip), tip), targetSlot: targetSlot + (isFar ? 500n : 0n) };
      }
      case "shared": {
        const transactions = this.#payments(blockhash, tip).slice(-4);
        const at = late === null ? 0 : draw.below(late.transactions.length);
        const [bytes, signature] = [late?.transactions[at], late?.signatures[at]];
        const bundle = written(kind, transactions, tip);
        if (bytes === undefined || signature === undefined) return bundle;
        const [before, after] = [draw.below(2), transactions.length];
        const place = before === 0 ? 0 : after;
        return {
          ...bundle,
          transactions: bundle.transactions.toSpliced(place, 0, bytes),
          signatures: bundle.signatures.toSpliced(place, 0, signature),
        };
      }
      default:
        return written(kind, this.#requested(kind, blockhash, tip), tip);
    }
  }

  #requested(kind: BundleKind, blockhash: string, tip: bigint): Transaction[] {
    const draw = this.#draw;
    const transactions = this.#payments(blockhash, tip);
    const at = draw.below(transactions.length);
    const [first] = transactions;
    if (kind === "failing") transactions[at] = this.#payment(blockhash, { lamports: tooMuch });
    if (kind === "doubled" && first !== undefined) transactions.push(...transactions.splice(4), first);
    if (kind === "conflicting") {
      const from = draw.pick(this.poor) ?? undefined;
      transactions.unshift(this.#payment(blockhash, { lamports: poorWants, from }));
      if (transactions.length > 5) transactions.splice(1, 1);
    }
    return transactions;
  }

  /** One to five payments, one of which is the tip. */
  #payments(blockhash: string, tip: bigint): Transaction[] {
    const draw = this.#draw;
    const payments = Array.from({ length: draw.below(4) }, () => this.#payment(blockhash, {}));
    const to = draw.pick(tipKeys) ?? undefined;
    return payments.toSpliced(draw.below(payments.length + 1), 0, this.#payment(blockhash, { lamports: tip, to }));
  }

  #payment(
    blockhash: string,
    { lamports, from, to }: { lamports?: bigint; from?: GenesisKeypair | undefined; to?: Uint8Array | undefined },
  ): Transaction {
    const draw = this.#draw;
    const payer = from ?? draw.pick(this.rich);
    const receiver = to ?? draw.pick(this.rich)?.publicKey;
    if (payer === null || receiver === undefined) throw new Error("there are payers");
    this.#distinct = (this.#distinct + 1) % distinctMax;
    const amount = lamports ?? BigInt(1 + draw.below(1_000_000));
    return airdropTransaction(payer, receiver, amount, blockhash, this.#distinct);
  }

  /** Bytes that are no bundle: noise, sound transactions with a bit turned over or cut short, none, or too many. */
  #hostile(blockhash: string): Uint8Array[] {
    const draw = this.#draw;
    const noise = (): Uint8Array => Uint8Array.from({ length: draw.below(1_400) }, () => draw.below(256));
    const sound = (): Uint8Array => new Uint8Array(this.#payment(blockhash, {}).bytes);
    switch (draw.below(5)) {
      case 0:
        return [];
      case 1:
        return Array.from({ length: 6 + draw.below(10) }, sound);
      case 2:
        return [sound(), noise()];
      case 3:
        return [sound().subarray(0, draw.below(200))];
      default: {
        const bytes = sound();
        const at = draw.below(bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << draw.below(8));
        return [bytes];
      }
    }
  }
}

function written(kind: BundleKind, transactions: readonly Transaction[], tip: bigint): DrawnBundle {
  return {
    kind,
    transactions: transactions.map(({ bytes }) => bytes),
    signatures: transactions.map(({ id }) => id),
    tip,
    targetSlot: null,
    sealing: null,
  };
}
