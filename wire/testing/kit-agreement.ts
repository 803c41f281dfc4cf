import {
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type ReadonlyUint8Array,
} from "@solana/kit";
import { encodeTransaction } from "../transaction/encode.ts";
import type { Message, Transaction } from "../transaction/message.ts";
import { parseMessage, parseTransaction, type TransactionFault } from "../transaction/parse.ts";

/** Holds our reading of a transaction against @solana/kit's, for tests and campaigns. */

const transactionDecoder = getTransactionDecoder();
const transactionEncoder = getTransactionEncoder();
const messageDecoder = getCompiledTransactionMessageDecoder();
const messageEncoder = getCompiledTransactionMessageEncoder();

type KitMessage = ReturnType<typeof messageDecoder.decode>;

interface KitReading {
  readonly transaction: ReturnType<typeof transactionDecoder.decode>;
  readonly message: KitMessage;
}

/** Null when kit refuses the bytes. */
export function readWithKit(bytes: Uint8Array): KitReading | null {
  try {
    const transaction = transactionDecoder.decode(bytes);
    return { transaction, message: messageDecoder.decode(transaction.messageBytes) };
  } catch {
    return null;
  }
}

const hex = (bytes: ReadonlyUint8Array | undefined): string =>
  bytes === undefined ? "" : new Uint8Array(bytes).toHex();

/** One comparable form of both readings; indexes and data as hex. */
function describeOurs(message: Message): unknown {
  return {
    version: message.version,
    header: [message.numRequiredSignatures, message.numReadonlySignedAccounts, message.numReadonlyUnsignedAccounts],
    keys: message.staticAddresses,
    blockhash: message.blockhash,
    instructions: message.instructions.map(({ programIndex, accountIndexes, data }) => [
      programIndex,
      hex(accountIndexes),
      hex(data),
    ]),
    lookups: message.lookups.map(({ table, writableIndexes, readonlyIndexes }) => [
      table,
      hex(writableIndexes),
      hex(readonlyIndexes),
    ]),
    config: Object.values(message.config)
      .filter((value) => value !== null)
      .map(String),
  };
}

function describeKits(message: KitMessage): unknown {
  const { header } = message;
  const base = {
    version: message.version,
    header: [header.numSignerAccounts, header.numReadonlySignerAccounts, header.numReadonlyNonSignerAccounts],
    keys: message.staticAccounts,
    blockhash: message.lifetimeToken,
  };
  if (message.version === 1) {
    return {
      ...base,
      instructions: message.instructionHeaders.map(({ programAccountIndex }, index) => {
        const payload = message.instructionPayloads[index];
        return [
          programAccountIndex,
          hex(Uint8Array.from(payload?.instructionAccountIndices ?? [])),
          hex(payload?.instructionData),
        ];
      }),
      lookups: [],
      config: message.configValues.map(({ value }) => String(value)),
    };
  }
  const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : [];
  return {
    ...base,
    instructions: message.instructions.map(({ programAddressIndex, accountIndices, data }) => [
      programAddressIndex,
      hex(Uint8Array.from(accountIndices ?? [])),
      hex(data),
    ]),
    lookups: lookups.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => [
      lookupTableAddress,
      hex(Uint8Array.from(writableIndexes)),
      hex(Uint8Array.from(readonlyIndexes)),
    ]),
    config: [],
  };
}

/** Our own encoder, given the parts that our parser found. */
export function reencode(transaction: Transaction): Uint8Array {
  const { message } = transaction;
  return encodeTransaction({
    signatures: Array.from({ length: transaction.signatureCount }, (_, index) => transaction.signatureBytes(index)),
    message: {
      version: message.version,
      numRequiredSignatures: message.numRequiredSignatures,
      numReadonlySignedAccounts: message.numReadonlySignedAccounts,
      numReadonlyUnsignedAccounts: message.numReadonlyUnsignedAccounts,
      staticKeys: Array.from({ length: message.staticKeyCount }, (_, index) => message.keyBytes(index)),
      blockhash: message.blockhashBytes,
      instructions: message.instructions,
      lookups: message.lookups,
      config: message.config,
    },
  });
}

function disagreementOnAccepted(bytes: Uint8Array, transaction: Transaction): string | null {
  const kit = readWithKit(bytes);
  if (kit === null) return "kit refuses what we accept";
  const kitSignatures = Object.values(kit.transaction.signatures).map((signature) =>
    hex(signature ?? new Uint8Array(64)),
  );
  const ourSignatures = kitSignatures.map((_, index) => hex(transaction.signatureBytes(index)));
  if (kitSignatures.length !== transaction.signatureCount) return "the numbers of signatures differ";
  if (kitSignatures.join() !== ourSignatures.join()) return "signatures differ";
  const ours = JSON.stringify(describeOurs(transaction.message));
  const kits = JSON.stringify(describeKits(kit.message));
  if (ours !== kits) return `messages differ: ours ${ours}, kit's ${kits}`;
  if (hex(transaction.message.bytes) !== hex(kit.transaction.messageBytes)) return "the signed bytes differ";
  if (!parseMessage(transaction.message.bytes).ok) return "the message alone is refused";
  const all = hex(bytes);
  if (hex(transactionEncoder.encode(kit.transaction)) !== all) return "kit encodes to other bytes";
  if (hex(messageEncoder.encode(kit.message)) !== hex(transaction.message.bytes)) return "kit encodes another message";
  return hex(reencode(transaction)) === all ? null : "our encoder gives other bytes";
}

/**
 * Faults of the encoding itself. Kit refuses them or cannot give the bytes back: it reads a missing last array as
 * empty, a padded length as its value, and stops before trailing bytes. The other faults are rules about the content
 * (headers that contradict the keys, duplicate keys, indexes out of range, lookups without indexes, v1's limits,
 * configuration bits, sizes), which kit decodes and leaves to the node to refuse.
 */
const encodingFaults: readonly TransactionFault[] = [
  "TRUNCATED",
  "TRAILING_BYTES",
  "NON_CANONICAL_LENGTH",
  "UNSUPPORTED_VERSION",
  "SIGNATURE_COUNT_MISMATCH",
];

function kitGivesBack(bytes: Uint8Array): boolean {
  const kit = readWithKit(bytes);
  if (kit === null) return false;
  const { transaction, message } = kit;
  try {
    return (
      hex(transactionEncoder.encode(transaction)) === hex(bytes) &&
      hex(messageEncoder.encode(message)) === hex(transaction.messageBytes)
    );
  } catch {
    // Kit decodes a transaction that nobody is expected to sign and refuses to encode it.
    return false;
  }
}

/**
 * Null when our parser and kit agree on the bytes, else what differs. What we accept kit must decode to the same parts
 * and encode to the same bytes, and our encoder too; what is no canonical encoding to us must be none to kit.
 */
export function disagreementWithKit(bytes: Uint8Array): {
  readonly accepted: boolean;
  readonly difference: string | null;
} {
  const parsed = parseTransaction(bytes);
  if (parsed.ok) return { accepted: true, difference: disagreementOnAccepted(bytes, parsed.transaction) };
  if (parsed.offset < 0 || parsed.offset > bytes.length) {
    return { accepted: false, difference: `offset ${parsed.offset} of ${parsed.fault} is outside of the bytes` };
  }
  const lax = encodingFaults.includes(parsed.fault) && kitGivesBack(bytes);
  return { accepted: false, difference: lax ? `kit reads and writes what is ${parsed.fault} to us` : null };
}
