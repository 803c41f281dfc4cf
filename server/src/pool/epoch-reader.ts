import { createHash } from "node:crypto";
import { firstSlotOfEpoch, slotsOfEpoch } from "@sluice/wire/accounts/clock";
import { poolValidatorStakeAddress } from "@sluice/wire/accounts/stake-pool";
import { decodeTipDistributionAccount, tipDistributionAddress } from "@sluice/wire/accounts/tips";
import type { PoolValidator } from "@sluice/wire/accounts/validator-list";
import { decodeVoteHead, voteHeadSize } from "@sluice/wire/accounts/vote";
import { decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { type ChainValue, memberOf } from "../chain/index.ts";
import { EngineChainError } from "../engine/index.ts";
import { groupsOf, malformedAnswer, readAllAccounts, type StakePoolChain } from "./account-reads.ts";
import type { CountedEpochs, EpochFacts, EpochLength, PoolSnapshot, ValidatorEpoch } from "./snapshot.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

/** Seconds of a slot where nothing has been measured. Source: solana-clock, `DEFAULT_MS_PER_SLOT`. */
const nominalSlotSeconds = 0.4;
/** The pace of an epoch is measured from this share of it on: times are whole seconds. */
const paceShare = 10n;

function bytesOf(address: Address): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new TypeError("a text that is branded as an address is none");
  return bytes;
}

/** The addresses that a pool's stake with a validator, and that validator's tips of an epoch, lie at. */
interface DerivedAddresses {
  readonly stake: Address;
  readonly tips: Address;
}

/** Reads what an epoch that has ended brought to a pool and its validators. */
export class EpochReader {
  readonly #chain: StakePoolChain;
  readonly #tipProgram: Address;
  /** Of the epoch that was read last: deriving takes longer than reading. */
  #derived: { readonly epoch: bigint; readonly of: Map<Address, DerivedAddresses> } | null = null;

  /** `tipProgram` is the program from whose accounts tips are claimed. */
  constructor(tipProgram: Address, chain: StakePoolChain) {
    this.#tipProgram = tipProgram;
    this.#chain = chain;
  }

  /**
   * The epoch whose end the pool's last update counted; null before the first one. `updatedBefore` is the epoch of the
   * update before, null where it is not known. Rejects where a node refuses what the figures cannot do without.
   */
  async read(snapshot: PoolSnapshot, updatedBefore: bigint | null): Promise<EpochFacts | null> {
    const { lastUpdateEpoch } = snapshot.pool;
    if (lastUpdateEpoch === 0n) return null;
    const epoch = lastUpdateEpoch - 1n;
    const { validators } = snapshot;
    const derived = validators.map((validator) => this.#addresses(snapshot, validator, epoch));
    const votes = validators.map(({ voteAccount }) => voteAccount);
    const length = await this.#length(snapshot, epoch);
    const heads = await readAllAccounts(this.#chain, votes, { offset: 0, length: voteHeadSize });
    const totals = await this.#totalStakes();
    const rent = await this.#tipRent();
    const tips = await readAllAccounts(
      this.#chain,
      derived.map((each) => each.tips),
    );
    const inflation = await this.#inflation(
      derived.map((each) => each.stake),
      epoch,
    );
    const facts = validators.map(({ voteAccount: vote }, index): ValidatorEpoch => {
      const head = heads[index]?.owner === programs.vote ? decodeVoteHead(heads[index].data) : null;
      const { stake, tips: tipAccount } = derived[index] ?? missingDerivation();
      return {
        vote,
        identity: head?.node ?? null,
        commissionBasisPoints: head?.commissionBasisPoints ?? 0,
        totalStake: totals.get(vote) ?? 0n,
        tipAccount,
        ...tipsOf(tips[index] ?? null, { program: this.#tipProgram, vote, epoch, rent }),
        stakeAccount: stake,
        inflation: inflation[index] ?? "unknown",
      };
    });
    const counted = await this.#counted(snapshot, length, updatedBefore);
    return { epoch, length, counted, validators: new Map(facts.map((each) => [each.vote, each])) };
  }

  #addresses({ address, program }: PoolSnapshot, validator: PoolValidator, epoch: bigint): DerivedAddresses {
    if (this.#derived?.epoch !== epoch) this.#derived = { epoch, of: new Map() };
    const { of } = this.#derived;
    const known = of.get(validator.voteAccount);
    if (known !== undefined) return known;
    const [vote, pool] = [bytesOf(validator.voteAccount), bytesOf(address)];
    const suffix = validator.validatorSeedSuffix;
    const derived = {
      stake: addressOfBytes(poolValidatorStakeAddress({ vote, pool, suffix }, bytesOf(program), sha256)),
      tips: addressOfBytes(tipDistributionAddress({ vote, epoch }, bytesOf(this.#tipProgram), sha256).bytes),
    };
    of.set(validator.voteAccount, derived);
    return derived;
  }

  /** From the first block of the epoch to that of the next, where a node still has the first; else by pace. */
  async #length(snapshot: PoolSnapshot, epoch: bigint): Promise<EpochLength> {
    const started = await this.#firstBlockTime(snapshot, epoch);
    const ended = await this.#start(snapshot, epoch + 1n);
    const seconds = started === null || ended === null ? 0 : Number(ended - started);
    return seconds > 0 ? { seconds, from: "blocks" } : epochPace(snapshot);
  }

  /** From the first block of the epoch of the update before to that of the last update's. */
  async #counted(snapshot: PoolSnapshot, length: EpochLength, updatedBefore: bigint | null): Promise<CountedEpochs> {
    const { lastUpdateEpoch } = snapshot.pool;
    const epochs = updatedBefore === null ? 1n : lastUpdateEpoch - updatedBefore;
    const from = updatedBefore === null ? "assumed" : "sample";
    if (epochs === 1n) return { epochs, seconds: length.seconds, from };
    const started = await this.#firstBlockTime(snapshot, lastUpdateEpoch - epochs);
    const ended = await this.#start(snapshot, lastUpdateEpoch);
    const seconds = started === null || ended === null ? 0 : Number(ended - started);
    return { epochs, seconds: seconds > 0 ? seconds : length.seconds * Number(epochs), from };
  }

  /** When an epoch began, which the clock tells of the present one. Unix seconds; null where nodes do not tell it. */
  async #start(snapshot: PoolSnapshot, epoch: bigint): Promise<bigint | null> {
    return epoch === snapshot.epoch ? snapshot.epochStartTimestamp : await this.#firstBlockTime(snapshot, epoch);
  }

  /** Unix seconds; null where the node no longer has the block, or the epoch has none. */
  async #firstBlockTime({ schedule }: PoolSnapshot, epoch: bigint): Promise<bigint | null> {
    const first = firstSlotOfEpoch(schedule, epoch);
    const time = await this.#optional(async () => {
      // A node that has dropped the epoch's first blocks lists the first one that it kept.
      const available = await this.#chain.read("getFirstAvailableBlock", [], { archive: true });
      if (typeof available !== "bigint" || available > first) return null;
      const slots = await this.#chain.read("getBlocksWithLimit", [first, 1, { commitment: "confirmed" }], {
        archive: true,
      });
      const [slot] = Array.isArray(slots) ? slots : [];
      if (typeof slot !== "bigint" || slot >= first + slotsOfEpoch(schedule, epoch)) return null;
      return await this.#chain.read("getBlockTime", [slot], { archive: true });
    });
    return typeof time === "bigint" ? time : null;
  }

  async #totalStakes(): Promise<ReadonlyMap<string, bigint>> {
    const answer = await this.#chain.read("getVoteAccounts", [{ commitment: "confirmed" }]);
    const rows = ["current", "delinquent"].flatMap((name) => {
      const list = memberOf(answer, name);
      if (!Array.isArray(list)) throw malformedAnswer("getVoteAccounts");
      return list as readonly ChainValue[];
    });
    const totals = new Map<string, bigint>();
    for (const row of rows) {
      const [vote, stake] = [memberOf(row, "votePubkey"), memberOf(row, "activatedStake")];
      if (typeof vote === "string" && typeof stake === "bigint") totals.set(vote, stake);
    }
    return totals;
  }

  async #tipRent(): Promise<bigint> {
    const rent = await this.#chain.read("getMinimumBalanceForRentExemption", [tipAccountBytes]);
    if (typeof rent !== "bigint") throw malformedAnswer("getMinimumBalanceForRentExemption");
    return rent;
  }

  async #inflation(addresses: readonly Address[], epoch: bigint): Promise<readonly ValidatorEpoch["inflation"][]> {
    const read: ValidatorEpoch["inflation"][] = [];
    for (const group of groupsOf(addresses, rewardsMax)) {
      const params = [[...group], { epoch, commitment: "confirmed" }];
      const answer = await this.#optional(() => this.#chain.read("getInflationReward", params, { archive: true }));
      const rows: readonly ChainValue[] | null = Array.isArray(answer) ? answer : null;
      read.push(...group.map((_, index) => (rows === null ? "unknown" : inflationOf(rows[index]))));
    }
    return read;
  }

  /** What a node may no longer have. */
  async #optional<T>(read: () => Promise<T>): Promise<T | null> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof EngineChainError) return null;
      throw error;
    }
  }
}

/** Addresses of one getInflationReward; nodes take no more. */
const rewardsMax = 32;
/** Bytes of an account of tips. */
const tipAccountBytes = 168;

function missingDerivation(): never {
  throw new RangeError("a validator has no derived addresses");
}

/** As far as the epoch has come, and by the nominal slot while that is too little to measure. */
export function epochPace({ slot, epoch, schedule, unixTimestamp, epochStartTimestamp }: PoolSnapshot): EpochLength {
  const slots = slotsOfEpoch(schedule, epoch);
  const passed = slot - firstSlotOfEpoch(schedule, epoch);
  const seconds = Number(unixTimestamp - epochStartTimestamp);
  if (passed * paceShare < slots || seconds <= 0)
    return { seconds: Number(slots) * nominalSlotSeconds, from: "nominal" };
  return { seconds: (seconds * Number(slots)) / Number(passed), from: "pace" };
}

/** Tips as they were claimed from, once that is fixed; before, what the account holds above its rent. */
function tipsOf(
  account: { readonly owner: Address; readonly lamports: bigint; readonly data: Uint8Array } | null,
  of: { readonly program: Address; readonly vote: Address; readonly epoch: bigint; readonly rent: bigint },
): Pick<ValidatorEpoch, "tips" | "tipCommissionBasisPoints"> {
  const { program, vote, epoch, rent } = of;
  const held = account?.owner === program ? decodeTipDistributionAccount(account.data) : null;
  if (account === null || held === null || held.voteAccount !== vote || held.epochCreatedAt !== epoch) {
    return { tips: 0n, tipCommissionBasisPoints: 0 };
  }
  const above = account.lamports > rent ? account.lamports - rent : 0n;
  return { tips: held.merkleRoot?.maxTotalClaim ?? above, tipCommissionBasisPoints: held.validatorCommissionBps };
}

function inflationOf(row: ChainValue | undefined): ValidatorEpoch["inflation"] {
  if (row === null) return "none";
  if (row === undefined) return "unknown";
  const [paid, after] = [memberOf(row, "amount"), memberOf(row, "postBalance")];
  return typeof paid === "bigint" && typeof after === "bigint" ? { paid, before: after - paid } : "unknown";
}
