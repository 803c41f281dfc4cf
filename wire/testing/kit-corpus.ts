import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getAddressDecoder,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import type { CampaignRandom } from "./campaign-random.ts";

/** Transactions that @solana/kit builds and encodes, for tests and campaigns: what real clients send. */

const addressDecoder = getAddressDecoder();
const encoder = getTransactionEncoder();
const roles = [AccountRole.READONLY, AccountRole.WRITABLE, AccountRole.READONLY_SIGNER, AccountRole.WRITABLE_SIGNER];

function randomAddress(random: CampaignRandom): Address {
  return addressDecoder.decode(random.bytes(32));
}

function randomInstructions(random: CampaignRandom, pool: readonly Address[]): Instruction[] {
  return Array.from({ length: random.below(4) }, () => ({
    programAddress: randomAddress(random),
    accounts: Array.from({ length: random.below(5) }, (_, index) => ({
      address: random.pick(pool),
      role: index === 0 ? random.pick(roles) : (roles[random.below(2)] ?? AccountRole.READONLY),
    })),
    data: random.bytes(random.pick([0, 1, 12, 40, 130])),
  }));
}

function withSignatures(bytes: ReturnType<typeof encoder.encode>): Uint8Array {
  return new Uint8Array(bytes);
}

/** The wire bytes of an unsigned random transaction: a third each of legacy, v0 with lookup tables, and v1. */
export function kitTransaction(random: CampaignRandom): Uint8Array {
  const pool = Array.from({ length: 8 }, () => randomAddress(random));
  const feePayer = randomAddress(random);
  const lifetime = { blockhash: randomAddress(random) as string as Blockhash, lastValidBlockHeight: 1n };
  const instructions = randomInstructions(random, pool);
  const kind = random.below(3);
  if (kind === 0) {
    const message = pipe(
      createTransactionMessage({ version: "legacy" }),
      (draft) => setTransactionMessageFeePayer(feePayer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
    );
    return withSignatures(encoder.encode(compileTransaction(message)));
  }
  if (kind === 1) {
    const tables = { [randomAddress(random)]: [randomAddress(random), ...pool.slice(0, random.below(8))] };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayer(feePayer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
      (draft) => compressTransactionMessageUsingAddressLookupTables(draft, tables),
    );
    return withSignatures(encoder.encode(compileTransaction(message)));
  }
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (draft) => setTransactionMessageFeePayer(feePayer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstructions(instructions, draft),
    (draft) =>
      setTransactionMessageConfig(
        {
          ...(random.below(2) === 0 ? {} : { computeUnitLimit: random.below(1_400_000) }),
          ...(random.below(2) === 0 ? {} : { heapSize: (32 + random.below(225)) * 1024 }),
          ...(random.below(2) === 0 ? {} : { priorityFeeLamports: BigInt(random.below(2 ** 31)) << 31n }),
          ...(random.below(2) === 0 ? {} : { loadedAccountsDataSizeLimit: random.below(2 ** 31) }),
        },
        draft,
      ),
  );
  return withSignatures(encoder.encode(compileTransaction(message)));
}
