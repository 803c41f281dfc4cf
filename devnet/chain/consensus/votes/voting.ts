import type { AccountWrite } from "@sluice/svm/bank";
import { addressBytes, decodeAddress } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import {
  encodeMessage,
  encodeTransaction,
  type Message,
  parseTransaction,
  type Transaction,
} from "@sluice/wire/transaction";
import type { BankSlot, ChainAccount, GenesisKeypair } from "../../model/index.ts";
import type { AccountOverlay } from "../account-overlay.ts";
import type { Validator } from "../validator.ts";
import {
  creditsMax,
  type Lockouts,
  landVote,
  readTower,
  type VoteTower,
  voteFor,
  withCredits,
  withTower,
} from "./vote-account.ts";

/**
 * Whether a transaction counts as a vote: a legacy message with one instruction, to the vote program, and at most two
 * signatures. `keys` are the transaction's, by the indexes that instructions use. Source: agave,
 * is_simple_vote_transaction.
 */
export function isSimpleVote(message: Message, keys: readonly string[]): boolean {
  if (message.version !== "legacy" || message.numRequiredSignatures > 2 || message.instructions.length !== 1) {
    return false;
  }
  const program = message.instructions[0]?.programIndex;
  return program !== undefined && keys[program] === programs.vote;
}

const towerSyncTag = 14;
const noRoot = 0xffff_ffff_ffff_ffffn;
const voteProgram = decodeAddress(programs.vote) ?? new Uint8Array(32);

export interface Vote {
  readonly lockouts: Lockouts;
  /** Of the block that is voted for: its bank hash, which on this chain is its blockhash. */
  readonly hash: Uint8Array;
  /** Unix seconds of that block. */
  readonly time: bigint;
}

/** Seven bits to the byte, least first. */
function varint(writer: ByteWriter, value: bigint): void {
  let left = value;
  for (; left > 0x7fn; left >>= 7n) writer.u8(Number(left & 0x7fn) | 0x80);
  writer.u8(Number(left));
}

/** The data of a TowerSync instruction; lockouts are written as steps from the root. Source: solana-vote-interface. */
export function towerSync(vote: Vote): Uint8Array {
  const { votes, rootSlot } = vote.lockouts;
  const writer = new ByteWriter().u32(towerSyncTag).u64(rootSlot ?? noRoot);
  varint(writer, BigInt(votes.length));
  let from = rootSlot ?? 0n;
  for (const { slot, confirmations } of votes) {
    varint(writer, slot - from);
    writer.u8(confirmations);
    from = slot;
  }
  // The block's id is the root of its shreds, of which there are none here: its hash stands for it.
  return writer.bytes(vote.hash).u8(1).i64(vote.time).bytes(vote.hash).finish();
}

/** The wire bytes of a vote by `identity`, who pays for it and is the voter of the vote account. */
function voteTransaction(
  identity: GenesisKeypair,
  voteAccount: Uint8Array,
  vote: Vote,
  blockhash: Uint8Array,
): Uint8Array {
  const message = encodeMessage({
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 1,
    staticKeys: [identity.publicKey, voteAccount, voteProgram],
    blockhash,
    instructions: [{ programIndex: 2, accountIndexes: [1, 0], data: towerSync(vote) }],
  });
  return encodeTransaction({ signatures: [identity.sign(message)], message });
}

/** The slot in which votes land. */
interface VotingSlot {
  readonly slot: bigint;
  readonly epoch: bigint;
  /** What is voted for. */
  readonly parent: BankSlot;
  readonly read: (address: string) => ChainAccount | null;
}

interface Ballot {
  readonly validator: Validator;
  readonly account: ChainAccount;
  readonly tower: VoteTower;
  readonly lockouts: Lockouts;
}

/**
 * The validators' votes: each votes for every block in the slot after it, going by its vote account as that is on the
 * fork, so that a fork takes its votes back. Either they are transactions that the vote program runs, or the chain
 * writes the same towers itself.
 */
export class Voting {
  readonly #validators: readonly Validator[];
  readonly #delinquent = new Set<string>();

  constructor(validators: readonly Validator[]) {
    this.#validators = validators;
  }

  /** Identities of those that do not vote. */
  get delinquent(): readonly string[] {
    return [...this.#delinquent];
  }

  /** Stops a validator's votes, or lets it vote again. */
  setDelinquent(identity: string, on: boolean): void {
    if (on) this.#delinquent.add(identity);
    else this.#delinquent.delete(identity);
  }

  *#ballots(voting: VotingSlot): Generator<Ballot> {
    for (const validator of this.#validators) {
      if (this.#delinquent.has(validator.identity)) continue;
      const account = voting.read(validator.vote);
      const tower = account === null ? null : readTower(account);
      const lockouts = tower === null ? null : voteFor(tower, voting.parent.slot);
      if (account !== null && tower !== null && lockouts !== null) yield { validator, account, tower, lockouts };
    }
  }

  /** The votes for the parent, signed. */
  transactions(voting: VotingSlot): Transaction[] {
    const { parent } = voting;
    const hash = addressBytes(parent.blockhash);
    return [...this.#ballots(voting)].flatMap(({ validator, lockouts }) => {
      const vote = { lockouts, hash, time: parent.time };
      const parsed = parseTransaction(voteTransaction(validator.keypair, validator.voteBytes, vote, hash));
      if (!parsed.ok) throw new Error(`a vote is malformed: ${parsed.fault}`);
      return [parsed.transaction];
    });
  }

  /** The vote accounts after the same votes, without transactions and their fees. */
  writes(voting: VotingSlot): AccountWrite[] {
    const { slot, epoch, parent } = voting;
    return [...this.#ballots(voting)].map(({ validator, account, tower, lockouts }) => {
      const landed = landVote(tower, lockouts, { slot, epoch, unixTimestamp: parent.time });
      return { address: validator.vote, account: withTower(account, landed) };
    });
  }

  /** Credits for slots of an epoch that were left out, as if each had been voted for in time. */
  presume(slots: bigint, epoch: bigint, accounts: AccountOverlay): void {
    for (const { identity, vote } of this.#validators) {
      const account = this.#delinquent.has(identity) ? null : accounts.read(vote);
      const tower = account === null ? null : readTower(account);
      if (account === null || tower === null) continue;
      const epochCredits = withCredits(tower.epochCredits, epoch, slots * creditsMax);
      accounts.write(vote, withTower(account, { ...tower, epochCredits }));
    }
  }
}
