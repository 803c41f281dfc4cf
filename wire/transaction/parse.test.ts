import { describe, expect, test } from "bun:test";
import { encodeBase58 } from "../base58.ts";
import { encodeMessage, encodeTransaction, type MessageParts } from "./encode.ts";
import { parseMessage, parseTransaction, transactionFaults } from "./parse.ts";

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const signature = (fill: number): Uint8Array => new Uint8Array(64).fill(fill);

/** Two signers of which the second is readonly, one writable key, one readonly program. */
const base: MessageParts = {
  version: "legacy",
  numRequiredSignatures: 2,
  numReadonlySignedAccounts: 1,
  numReadonlyUnsignedAccounts: 1,
  staticKeys: [key(1), key(2), key(3), key(4)],
  blockhash: key(9),
  instructions: [{ programIndex: 3, accountIndexes: [0, 2], data: Uint8Array.of(2, 0, 0, 0) }],
};
const lookups = [{ tableBytes: key(8), writableIndexes: [5], readonlyIndexes: [6, 7] }];
const config = { priorityFeeLamports: 2n ** 64n - 1n, computeUnitLimit: 200_000, heapSize: 65_536 };
const signatures = [signature(0xa), signature(0xb)];

function faultOf(message: MessageParts, given: readonly Uint8Array[] = signatures): string {
  const parsed = parseTransaction(encodeTransaction({ signatures: given, message }));
  return parsed.ok ? "accepted" : parsed.fault;
}
const faultOfBytes = (bytes: Uint8Array): string => {
  const parsed = parseTransaction(bytes);
  return parsed.ok ? "accepted" : parsed.fault;
};
const one = (instruction: Partial<MessageParts["instructions"][number]>): Pick<MessageParts, "instructions"> => ({
  instructions: [{ programIndex: 3, accountIndexes: [], data: new Uint8Array(0), ...instruction }],
});
const keys = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) =>
    key(0)
      .with(12, index & 255)
      .with(13, 1),
  );

const versions: readonly MessageParts[] = [base, { ...base, version: 0, lookups }, { ...base, version: 1, config }];

describe("what is accepted", () => {
  test("a transaction of each version is read as views of the bytes it came in", () => {
    for (const message of versions) {
      const bytes = encodeTransaction({ signatures, message });
      const parsed = parseTransaction(bytes);
      if (!parsed.ok) throw new Error(parsed.fault);
      const { transaction } = parsed;
      expect(transaction.message.version).toBe(message.version);
      expect(transaction.message.bytes).toEqual(encodeMessage(message));
      expect(transaction.message.bytes.buffer).toBe(bytes.buffer);
      expect(transaction.signatureBytes(1)).toEqual(signature(0xb));
      expect(transaction.signatureBytes(1).buffer).toBe(bytes.buffer);
      expect(transaction.message.keyBytes(3)).toEqual(key(4));
      expect(transaction.message.blockhashBytes).toEqual(key(9));
      expect(transaction.message.instructionCount).toBe(1);
      expect(transaction.message.instructions[0]?.accountIndexes).toEqual(Uint8Array.of(0, 2));
      expect(transaction.message.instructions[0]?.data.buffer).toBe(bytes.buffer);
      expect(transaction.id as string).toBe(encodeBase58(signature(0xa)));
      expect(transaction.signatures.map(String)).toEqual(signatures.map(encodeBase58));
      expect(() => transaction.message.keyBytes(4)).toThrow(RangeError);
      expect(() => transaction.signatureBytes(2)).toThrow(RangeError);
    }
  });

  test("signer and writable follow the header, then writable lookups, then readonly ones", () => {
    const parsed = parseMessage(encodeMessage({ ...base, version: 0, lookups }));
    if (!parsed.ok) throw new Error(parsed.fault);
    const { message } = parsed;
    const indexes = [-1, 0, 1, 2, 3, 4, 5, 6, 7];
    expect(message.totalKeyCount).toBe(7);
    expect(indexes.map((index) => message.isSigner(index))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(indexes.map((index) => message.isWritable(index))).toEqual([
      false,
      true,
      false,
      true,
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(message.lookups[0]?.readonlyIndexes).toEqual(Uint8Array.of(6, 7));
  });

  test("a v1 configuration is read exactly, and absent values are null", () => {
    const parsed = parseMessage(encodeMessage({ ...base, version: 1, config }));
    if (!parsed.ok) throw new Error(parsed.fault);
    expect(parsed.message.config).toEqual({ ...config, loadedAccountsDataSizeLimit: null });
    const none = parseMessage(encodeMessage({ ...base, version: 1 }));
    expect(none.ok && Object.values(none.message.config)).toEqual([null, null, null, null]);
  });

  test("a message alone is what a transaction holds, and no transaction is a message", () => {
    for (const message of versions) {
      expect(parseMessage(encodeMessage(message)).ok).toBe(true);
      expect(parseMessage(encodeTransaction({ signatures, message })).ok).toBe(false);
    }
  });

  test("the parser reads a view in the middle of a buffer", () => {
    const bytes = encodeTransaction({ signatures, message: base });
    const buffer = new Uint8Array(bytes.length + 20).fill(0xff);
    buffer.set(bytes, 7);
    const parsed = parseTransaction(buffer.subarray(7, 7 + bytes.length));
    expect(parsed.ok && parsed.transaction.message.keyBytes(0)).toEqual(key(1));
  });
});

describe("what is refused", () => {
  test("every cut of a transaction is TRUNCATED, every byte behind it TRAILING_BYTES", () => {
    for (const message of versions) {
      const bytes = encodeTransaction({ signatures, message });
      for (let length = 0; length < bytes.length; length++)
        expect(faultOfBytes(bytes.slice(0, length))).toBe("TRUNCATED");
      expect(faultOfBytes(Uint8Array.of(...bytes, 0))).toBe("TRAILING_BYTES");
    }
  });

  test("more bytes than the version allows are TOO_LARGE, the last allowed one is not", () => {
    const sized = (version: "legacy" | 1, data: number): Uint8Array =>
      encodeTransaction({ signatures, message: { ...base, version, ...one({ data: new Uint8Array(data) }) } });
    const legacyData = 1232 - sized("legacy", 0).length - 1;
    expect(sized("legacy", legacyData)).toHaveLength(1232);
    expect(faultOfBytes(sized("legacy", legacyData))).toBe("accepted");
    expect(faultOfBytes(sized("legacy", legacyData + 1))).toBe("TOO_LARGE");
    const v1Data = 4096 - sized(1, 0).length;
    expect(faultOfBytes(sized(1, v1Data))).toBe("accepted");
    expect(faultOfBytes(sized(1, v1Data + 1))).toBe("TOO_LARGE");
    expect(faultOfBytes(new Uint8Array(100_000))).toBe("TOO_LARGE");
  });

  test("versions that do not exist, and versions in another's framing", () => {
    const bytes = encodeTransaction({ signatures, message: { ...base, version: 0 } });
    for (const version of [0x82, 0x90, 0xff])
      expect(faultOfBytes(bytes.with(129, version))).toBe("UNSUPPORTED_VERSION");
    expect(faultOfBytes(bytes.with(129, 0x81))).toBe("UNSUPPORTED_VERSION");
    expect(faultOfBytes(bytes.slice(129))).toBe("UNSUPPORTED_VERSION");
    const v1 = encodeTransaction({ signatures, message: { ...base, version: 1 } });
    expect(faultOfBytes(v1.with(0, 0x82))).toBe("UNSUPPORTED_VERSION");
    expect(faultOfBytes(v1.with(0, 0x80))).toBe("UNSUPPORTED_VERSION");
  });

  test("padded lengths wherever a length stands", () => {
    const bytes = encodeTransaction({ signatures, message: { ...base, version: 0, lookups } });
    const message = 129;
    const instructions = message + 4 + 1 + 128 + 32;
    const positions = [0, message + 4, instructions, instructions + 2, instructions + 5, instructions + 10];
    for (const at of positions) {
      const padded = Uint8Array.of(...bytes.slice(0, at), (bytes[at] ?? 0) | 0x80, 0, ...bytes.slice(at + 1));
      // A first byte above 0x7f is a version before it is a count.
      expect(faultOfBytes(padded)).toBe(at === 0 ? "UNSUPPORTED_VERSION" : "NON_CANONICAL_LENGTH");
    }
  });

  test("headers that contradict the keys or the signatures", () => {
    expect(faultOf({ ...base, numRequiredSignatures: 0, numReadonlySignedAccounts: 0 }, [])).toBe("NO_SIGNERS");
    expect(faultOf({ ...base, numReadonlySignedAccounts: 2 })).toBe("FEE_PAYER_READONLY");
    expect(faultOf({ ...base, numReadonlyUnsignedAccounts: 3 })).toBe("READONLY_OVERLAP");
    expect(faultOf({ ...base, numReadonlyUnsignedAccounts: 255 })).toBe("READONLY_OVERLAP");
    expect(faultOf({ ...base, numRequiredSignatures: 5 })).toBe("TOO_MANY_SIGNERS");
    expect(faultOf({ ...base, staticKeys: [], instructions: [] })).toBe("TOO_MANY_SIGNERS");
    expect(faultOf(base, signatures.slice(1))).toBe("SIGNATURE_COUNT_MISMATCH");
    expect(faultOf(base, [...signatures, signature(0)])).toBe("SIGNATURE_COUNT_MISMATCH");
    expect(faultOf(base, [])).toBe("SIGNATURE_COUNT_MISMATCH");
  });

  test("a key that is listed twice, also when only its last byte tells two others apart", () => {
    for (const version of ["legacy", 0, 1] as const) {
      expect(faultOf({ ...base, version, staticKeys: [key(1), key(2), key(4), key(4)] })).toBe("DUPLICATE_KEY");
      const alike = [key(1), key(2), key(4), key(4).with(31, 5)];
      expect(faultOf({ ...base, version, staticKeys: alike })).toBe("accepted");
    }
  });

  test("programs and accounts that do not exist, and the fee payer as a program", () => {
    for (const version of ["legacy", 0, 1] as const) {
      expect(faultOf({ ...base, version, ...one({ programIndex: 0 }) })).toBe("PROGRAM_IS_FEE_PAYER");
      expect(faultOf({ ...base, version, ...one({ programIndex: 4 }) })).toBe("PROGRAM_INDEX_OUT_OF_RANGE");
      expect(faultOf({ ...base, version, ...one({ accountIndexes: [3, 4] }) })).toBe("ACCOUNT_INDEX_OUT_OF_RANGE");
    }
    const looked = { ...base, version: 0, lookups } as const;
    expect(faultOf({ ...looked, ...one({ accountIndexes: [4, 5, 6] }) })).toBe("accepted");
    expect(faultOf({ ...looked, ...one({ accountIndexes: [7] }) })).toBe("ACCOUNT_INDEX_OUT_OF_RANGE");
    expect(faultOf({ ...looked, ...one({ programIndex: 4 }) })).toBe("PROGRAM_INDEX_OUT_OF_RANGE");
  });

  test("lookups without indexes, and more than 256 keys in all", () => {
    const empty = [{ tableBytes: key(8), writableIndexes: [], readonlyIndexes: [] }];
    expect(faultOf({ ...base, version: 0, lookups: empty })).toBe("EMPTY_LOOKUP");
    const many = (count: number): MessageParts => ({
      ...base,
      version: 0,
      lookups: [
        { tableBytes: key(8), writableIndexes: new Uint8Array(count - 10), readonlyIndexes: new Uint8Array(10) },
      ],
    });
    expect(faultOf(many(252))).toBe("accepted");
    expect(faultOf(many(253))).toBe("TOO_MANY_KEYS");
  });

  test("v1's own limits, each at its edge", () => {
    const signers = (count: number): string =>
      faultOf(
        { ...base, version: 1, numRequiredSignatures: count, staticKeys: keys(count + 1), ...one({ programIndex: 1 }) },
        Array.from({ length: count }, () => signature(1)),
      );
    expect(signers(12)).toBe("accepted");
    expect(signers(13)).toBe("TOO_MANY_SIGNERS");
    expect(faultOf({ ...base, version: 1, staticKeys: keys(64) })).toBe("accepted");
    expect(faultOf({ ...base, version: 1, staticKeys: keys(65) })).toBe("TOO_MANY_KEYS");
    const instructions = (count: number): MessageParts["instructions"] =>
      Array.from({ length: count }, () => ({ programIndex: 3, accountIndexes: [], data: new Uint8Array(0) }));
    expect(faultOf({ ...base, version: 1, instructions: instructions(64) })).toBe("accepted");
    expect(faultOf({ ...base, version: 1, instructions: instructions(65) })).toBe("TOO_MANY_INSTRUCTIONS");
    for (const heapSize of [32_768, 262_144])
      expect(faultOf({ ...base, version: 1, config: { heapSize } })).toBe("accepted");
    for (const heapSize of [0, 31_744, 33_000, 33_280, 263_168, 2 ** 32 - 1024]) {
      expect(faultOf({ ...base, version: 1, config: { heapSize } })).toBe("INVALID_HEAP_SIZE");
    }
    const bytes = encodeTransaction({ signatures, message: { ...base, version: 1 } });
    for (const mask of [1, 2, 32, 128]) expect(faultOfBytes(bytes.with(4, mask))).toBe("INVALID_CONFIG_MASK");
    expect(faultOfBytes(bytes.with(7, 1))).toBe("INVALID_CONFIG_MASK");
  });

  test("the offset tells where the fault lies", () => {
    const bytes = encodeTransaction({ signatures, message: { ...base, ...one({ accountIndexes: [0, 9] }) } });
    expect(parseTransaction(bytes)).toEqual({
      ok: false,
      fault: "ACCOUNT_INDEX_OUT_OF_RANGE",
      offset: bytes.length - 2,
    });
    const header = 1 + 64 * signatures.length;
    const readonly = encodeTransaction({ signatures, message: { ...base, numReadonlySignedAccounts: 2 } });
    expect(parseTransaction(readonly)).toMatchObject({ fault: "FEE_PAYER_READONLY", offset: header + 1 });
    const unsigned = encodeTransaction({ signatures, message: { ...base, numRequiredSignatures: 0 } });
    expect(parseTransaction(unsigned)).toMatchObject({ fault: "NO_SIGNERS", offset: header });
  });

  test("no fault is without a sentence", () => {
    for (const text of Object.values(transactionFaults)) expect(text.length).toBeGreaterThan(10);
  });
});

describe("the encoder", () => {
  test("refuses what the format cannot hold instead of wrapping it", () => {
    expect(() => encodeMessage({ ...base, ...one({ programIndex: 256 }) })).toThrow(RangeError);
    expect(() => encodeMessage({ ...base, blockhash: new Uint8Array(31) })).toThrow(RangeError);
    expect(() => encodeMessage({ ...base, staticKeys: [new Uint8Array(33)] })).toThrow(RangeError);
    expect(() => encodeMessage({ ...base, version: 1, ...one({ accountIndexes: new Uint8Array(256) }) })).toThrow(
      RangeError,
    );
    expect(() => encodeTransaction({ signatures: [new Uint8Array(63)], message: base })).toThrow(RangeError);
  });
});
