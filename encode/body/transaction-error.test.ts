import { expect, test } from "bun:test";
import { MalformedBytes } from "@sluice/wire/bytes";
import {
  getSolanaErrorFromInstructionError,
  getSolanaErrorFromTransactionError,
  SOLANA_ERROR__TRANSACTION_ERROR__UNKNOWN,
} from "@solana/kit";
import {
  instructionErrorNames,
  packTransactionError,
  transactionErrorNames,
  unpackTransactionError,
} from "./transaction-error.ts";

/** Every variant, with what it holds. */
const errors = [
  ...transactionErrorNames.map((name) => {
    if (name === "InstructionError") return { InstructionError: [255, { Custom: 0xffff_ffff }] };
    if (name === "DuplicateInstruction") return { DuplicateInstruction: 7 };
    const indexed = name === "InsufficientFundsForRent" || name === "ProgramExecutionTemporarilyRestricted";
    return indexed ? { [name]: { account_index: 3 } } : name;
  }),
  ...instructionErrorNames.map((name) => ({ InstructionError: [0, name === "Custom" ? { Custom: 6001 } : name] })),
  { InstructionError: [2, { BorshIoError: "Unknown – ß" }] },
];

test("every variant of an error is the same after bincode", () => {
  expect(errors).toHaveLength(39 + 54 + 1);
  for (const error of errors) {
    const packed = packTransactionError(error);
    if (packed === null) throw new Error(`${JSON.stringify(error)} has no bincode`);
    expect(unpackTransactionError(packed)).toEqual(error);
  }
});

test("variants stand in the order in which @solana/kit numbers them", () => {
  const codes = instructionErrorNames
    .filter((name) => name !== "Custom" && name !== "BorshIoError")
    .map((name) => getSolanaErrorFromInstructionError(0, name).context.__code);
  expect(codes).toEqual(codes.toSorted((one, other) => one - other));
  const ours = transactionErrorNames
    .filter((name) => errors.includes(name))
    .map((name) => getSolanaErrorFromTransactionError(name).context.__code)
    .filter((code) => code !== SOLANA_ERROR__TRANSACTION_ERROR__UNKNOWN);
  expect(ours.length).toBeGreaterThan(30);
  expect(ours).toEqual(ours.toSorted((one, other) => one - other));
  expect(new Set(ours).size).toBe(ours.length);
});

test("known bytes: variant, index of the instruction, variant, code", () => {
  const packed = packTransactionError({ InstructionError: [1, { Custom: 0x1771 }] });
  expect(packed?.toHex()).toBe("080000000119000000711700" + "00");
});

test("an error that bincode does not have is told by null", () => {
  const unknown = [
    "NotYetThought",
    "InstructionError",
    { AccountInUse: 1 },
    { InstructionError: [256, "GenericError"] },
    { InstructionError: [0, "NotYetThought"] },
    { InstructionError: [0, "Custom"] },
    { InstructionError: [0, { Custom: -1 }] },
    { InstructionError: [0, { BorshIoError: "\ud800" }] },
    { DuplicateInstruction: { account_index: 1 } },
    { InsufficientFundsForRent: { other: 1 } },
    { InsufficientFundsForRent: 1 },
    {},
  ];
  for (const error of unknown) expect([error, packTransactionError(error)]).toEqual([error, null]);
});

test("cut, lengthened and unknown bytes are malformed", () => {
  const throws = (bytes: Uint8Array): void => expect(() => unpackTransactionError(bytes)).toThrow(MalformedBytes);
  for (const error of errors) {
    const packed = packTransactionError(error) ?? new Uint8Array(0);
    for (let length = 0; length < packed.length; length++) {
      // A sentence of BorshIoError may be missing: that is another version's form.
      if (JSON.stringify(error).includes('BorshIoError":') && length === 9) continue;
      throws(packed.subarray(0, length));
    }
    if (!JSON.stringify(error).includes("BorshIoError")) throws(Uint8Array.of(...packed, 0));
  }
  throws(Uint8Array.of(39, 0, 0, 0));
  throws(Uint8Array.of(8, 0, 0, 0, 0, 54, 0, 0, 0));
  throws(Uint8Array.of(8, 0, 0, 0, 0, 44, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255));
});
