import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { encodeBase58 } from "@sluice/wire/base58";
import { enhancedRecord } from "../enhanced/record.ts";
import { parseTransaction } from "../parse.ts";
import { scenario } from "../testing/scenario.ts";
import { IdlPrograms, readIdl } from "./programs.ts";

const address = encodeBase58(new Uint8Array(32).fill(9));
const hash = (name: string): Uint8Array => createHash("sha256").update(`global:${name}`).digest().subarray(0, 8);
const key = new Uint8Array(32).fill(7);

const types = [
  {
    name: "Order",
    type: {
      kind: "struct",
      fields: [
        { name: "price", type: "u64" },
        { name: "side", type: { defined: "Side" } },
      ],
    },
  },
  {
    name: "Side",
    type: { kind: "enum", variants: [{ name: "Buy" }, { name: "Sell", fields: [{ name: "most", type: "u16" }] }] },
  },
];

/** Anchor before version 0.30. */
const old = {
  version: "0.1.0",
  name: "market",
  metadata: { address },
  types,
  instructions: [
    {
      name: "placeOrder",
      accounts: [
        { name: "trader", isMut: true, isSigner: true },
        {
          name: "book",
          accounts: [
            { name: "bids", isMut: true, isSigner: false },
            { name: "asks", isMut: true, isSigner: false },
          ],
        },
      ],
      args: [
        { name: "order", type: { defined: "Order" } },
        { name: "referrer", type: { option: "publicKey" } },
        { name: "note", type: "string" },
        { name: "parts", type: { vec: "i8" } },
        { name: "pair", type: { array: ["bool", 2] } },
      ],
    },
  ],
};

const orderData = [
  ...hash("place_order"),
  ...[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 9, 0],
  ...[1, ...key],
  ...[2, 0, 0, 0, 0x68, 0x69],
  ...[2, 0, 0, 0, 0xff, 5],
  ...[1, 0],
];
const orderArgs = {
  order: { price: "18446744073709551615", side: { Sell: { most: 9 } } },
  referrer: encodeBase58(key),
  note: "hi",
  parts: [-1, 5],
  pair: [true, false],
};

const programsOf = (file: unknown, ofName: string | null = null): IdlPrograms =>
  new IdlPrograms(readIdl(JSON.stringify(file), ofName));
const accounts = ["one", "two", "three", "four"];
const decode = (file: unknown, bytes: readonly number[]) =>
  programsOf(file).decode({ programId: address, accounts, data: Uint8Array.from(bytes) });

describe("a file of Anchor", () => {
  test("before version 0.30 gives name, arguments and accounts, groups of accounts among them", () => {
    expect(decode(old, orderData)).toEqual({
      program: "market",
      name: "placeOrder",
      args: orderArgs,
      accounts: { trader: "one", "book.bids": "two", "book.asks": "three" },
    });
    const { metadata: _metadata, ...unnamed } = old;
    expect(programsOf(unnamed, address).nameOf(address, Uint8Array.from(orderData))).toBe("placeOrder");
  });

  test("since version 0.30 gives the same by the discriminators that it states", () => {
    const [instruction] = old.instructions;
    const file = {
      address,
      metadata: { name: "market", version: "0.1.0", spec: "0.1.0" },
      types: types.map(({ name, type }) => ({
        name,
        type: JSON.parse(
          JSON.stringify(type)
            .replaceAll('"Side"', '{"name":"Side"}')
            .replaceAll('"name":{"name":"Side"}', '"name":"Side"'),
        ),
      })),
      accounts: [{ name: "Order", discriminator: [1] }],
      instructions: [
        { ...instruction, name: "place_order", discriminator: [42, 43] },
        { name: "place_order_now", discriminator: [42, 43, 44], accounts: [], args: [] },
      ],
    };
    const bytes = [42, 43, ...orderData.slice(8)];
    expect(decode(file, bytes)).toMatchObject({ name: "place_order", args: orderArgs });
    // The longer one of two that fit.
    expect(decode(file, [42, 43, 44])).toMatchObject({ name: "place_order_now", args: {}, accounts: {} });
    expect(decode(file, [42])).toBeNull();
  });
});

test("a root node of Codama gives the same, without what an instruction is known by", () => {
  const u = (format: string) => ({ kind: "numberTypeNode", format, endian: "le" });
  const argument = (name: string, type: object, more: object = {}) => ({
    kind: "instructionArgumentNode",
    name,
    type,
    ...more,
  });
  const text = { kind: "sizePrefixTypeNode", type: { kind: "stringTypeNode", encoding: "utf8" }, prefix: u("u32") };
  const file = {
    kind: "rootNode",
    standard: "codama",
    version: "1.0.0",
    additionalPrograms: [],
    program: {
      kind: "programNode",
      name: "market",
      publicKey: address,
      definedTypes: [
        {
          kind: "definedTypeNode",
          name: "side",
          type: {
            kind: "enumTypeNode",
            size: u("u8"),
            variants: [
              { kind: "enumEmptyVariantTypeNode", name: "buy" },
              {
                kind: "enumStructVariantTypeNode",
                name: "sell",
                struct: {
                  kind: "structTypeNode",
                  fields: [{ kind: "structFieldTypeNode", name: "most", type: u("u16") }],
                },
              },
            ],
          },
        },
      ],
      instructions: [
        {
          kind: "instructionNode",
          name: "placeOrder",
          accounts: [{ kind: "instructionAccountNode", name: "trader" }],
          arguments: [
            argument("discriminator", u("u16"), {
              defaultValue: { kind: "numberValueNode", number: 513 },
              defaultValueStrategy: "omitted",
            }),
            argument("side", { kind: "definedTypeLinkNode", name: "side" }),
            argument("price", { kind: "amountTypeNode", decimals: 9, number: u("u64") }),
            argument("referrer", {
              kind: "optionTypeNode",
              item: { kind: "publicKeyTypeNode" },
              prefix: u("u32"),
              fixed: true,
            }),
            argument("note", text),
            argument("rest", { kind: "arrayTypeNode", item: u("u8"), count: { kind: "remainderCountNode" } }),
          ],
          discriminators: [{ kind: "fieldDiscriminatorNode", name: "discriminator", offset: 0 }],
        },
      ],
    },
  };
  const none = [0, 0, 0, 0, ...new Uint8Array(32)];
  const bytes = [1, 2, 1, 9, 0, 5, 0, 0, 0, 0, 0, 0, 0, ...none, 2, 0, 0, 0, 0x68, 0x69, 8, 9];
  expect(decode(file, bytes)).toEqual({
    program: "market",
    name: "placeOrder",
    args: { side: { sell: { most: 9 } }, price: "5", referrer: null, note: "hi", rest: [8, 9] },
    accounts: { trader: "one" },
  });
});

describe("names of instructions without discriminators", () => {
  const named = (name: string, ofProgram: string): string | null =>
    programsOf({ ...old, instructions: [{ name, accounts: [], args: [] }] }).nameOf(address, hash(ofProgram));

  test("are those of the program as Anchor derives them: a capital alone is a word, digits end none", () => {
    const names = [
      ["swapAToB", "swap_a_to_b"],
      ["buyV2", "buy_v2"],
      ["mip1Sell", "mip1_sell"],
      ["swap2", "swap2"],
      ["setURL", "set_url"],
      ["initURLOfA", "init_url_of_a"],
      ["already_snake", "already_snake"],
    ] as const;
    for (const [name, ofProgram] of names) expect(named(name, ofProgram)).toBe(name);
  });
});

describe("optional accounts", () => {
  const bare = (flag: string) => ({
    ...old,
    instructions: [
      {
        name: "go",
        accounts: [{ name: "first" }, { name: "maybe", [flag]: true }, { name: "last" }, { name: "program" }],
        args: [],
      },
    ],
  });
  const accountsOf = (file: unknown, given: readonly string[], data = hash("go")) =>
    programsOf(file).decode({ programId: address, accounts: given, data })?.accounts;

  test("that are not given have the program's address in their place, and are left out", () => {
    for (const flag of ["isOptional", "optional"]) {
      expect(accountsOf(bare(flag), ["one", address, "three", address])).toEqual({
        first: "one",
        last: "three",
        program: address,
      });
      expect(accountsOf(bare(flag), ["one", "two", "three", address])).toMatchObject({ maybe: "two" });
    }
  });

  test("that a file of Codama says to drop have no place", () => {
    const file = codama([{ name: "first" }, { name: "maybe", isOptional: true }, { name: "last" }], {
      optionalAccountStrategy: "omitted",
    });
    const data = Uint8Array.of(7);
    expect(accountsOf(file, ["one", "two"], data)).toEqual({ first: "one", last: "two" });
    expect(accountsOf(file, ["one", "two", "three"], data)).toEqual({ first: "one", maybe: "two", last: "three" });
    const placed = codama([{ name: "first" }, { name: "maybe", isOptional: true }, { name: "last" }]);
    expect(accountsOf(placed, ["one", address, "three"], data)).toEqual({ first: "one", last: "three" });
  });
});

/** A root node of one instruction that is known by a variant of an enum, which has the number 7. */
function codama(accounts: readonly object[], more: object = {}, value: object = variantOf("seventh")) {
  const type = {
    kind: "enumTypeNode",
    size: { kind: "numberTypeNode", format: "u8", endian: "le" },
    variants: [
      { kind: "enumEmptyVariantTypeNode", name: "first" },
      { kind: "enumEmptyVariantTypeNode", name: "seventh", discriminator: 7 },
      { kind: "enumStructVariantTypeNode", name: "full", struct: { kind: "structTypeNode", fields: [] } },
    ],
  };
  const tag = {
    kind: "instructionArgumentNode",
    name: "tag",
    type: { kind: "definedTypeLinkNode", name: "tag" },
    defaultValue: value,
    defaultValueStrategy: "omitted",
  };
  const instruction = {
    ...{ kind: "instructionNode", name: "go", accounts, arguments: [tag] },
    discriminators: [{ kind: "fieldDiscriminatorNode", name: "tag", offset: 0 }],
    ...more,
  };
  return {
    kind: "rootNode",
    program: { name: "market", publicKey: address, definedTypes: [{ name: "tag", type }], instructions: [instruction] },
  };
}

function variantOf(variant: string): object {
  return { kind: "enumValueNode", enum: { kind: "definedTypeLinkNode", name: "tag" }, variant };
}

describe("an instruction of Codama that is known", () => {
  test("by a variant of an enum has the variant's number, which the file may state", () => {
    expect(programsOf(codama([])).nameOf(address, Uint8Array.of(7))).toBe("go");
    expect(programsOf(codama([])).nameOf(address, Uint8Array.of(1))).toBeNull();
    expect(programsOf(codama([], {}, variantOf("first"))).nameOf(address, Uint8Array.of(0))).toBe("go");
    expect(() => programsOf(codama([], {}, variantOf("none")))).toThrow("names no variant: none");
    expect(() => programsOf(codama([], {}, variantOf("full")))).toThrow("must be a variant without a value");
  });

  test("by a list of numbers has their bytes", () => {
    const u8 = { kind: "numberTypeNode", format: "u8", endian: "le" };
    const list = {
      kind: "constantDiscriminatorNode",
      offset: 0,
      constant: {
        kind: "constantValueNode",
        type: { kind: "arrayTypeNode", item: u8, count: { kind: "fixedCountNode", value: 2 } },
        value: {
          kind: "arrayValueNode",
          items: [3, 4].map((number) => ({ kind: "numberValueNode", number })),
        },
      },
    };
    const file = codama([], { discriminators: [list], arguments: [] });
    expect(programsOf(file).nameOf(address, Uint8Array.of(3, 4))).toBe("go");
    expect(programsOf(file).nameOf(address, Uint8Array.of(3, 5))).toBeNull();
  });
});

test("records of the enhanced API have it beside the data, for inner instructions too", () => {
  const call = { program: address, accounts: ["payer", "bids", "asks"], data: Buffer.from(orderData).toString("hex") };
  const view = scenario({ calls: [{ ...call, inner: [call, { ...call, data: "00" }] }] });
  const place = { slot: 1n, blockTime: null };
  const told = enhancedRecord(view, parseTransaction(view), { place, programs: programsOf(old) })["instructions"];
  const decoded = { program: "market", name: "placeOrder", args: orderArgs, accounts: { trader: view.keys[0] } };
  expect(told).toMatchObject([{ decoded, innerInstructions: [{ decoded }, {}] }]);
  const without = enhancedRecord(view, parseTransaction(view), { place })["instructions"];
  expect(JSON.stringify(without)).not.toContain("decoded");
});

describe("a hostile file", () => {
  const nested = (depth: number): unknown => (depth === 0 ? "u8" : { vec: nested(depth - 1) });
  const withArgs = (...args: unknown[]) => ({ ...old, instructions: [{ name: "go", accounts: [], args }] });
  const cases: readonly [string, unknown, string][] = [
    ["no object", [], "the file must be a JSON object"],
    ["no name", { metadata: { address } }, "metadata.name must be a text"],
    ["no list", { ...old, instructions: {} }, "instructions must be a list"],
    ["an instruction without a name", { ...old, instructions: [{ args: [] }] }, "instructions[0].name must be a text"],
    [
      "a type of which nobody knows",
      withArgs({ name: "a", type: "u7" }),
      "instructions[0].args[0].type names no type: u7",
    ],
    [
      "a type of the object's own",
      withArgs({ name: "a", type: "constructor" }),
      "args[0].type names no type: constructor",
    ],
    ["types in types without end", withArgs({ name: "a", type: nested(40) }), "is nested too deeply"],
    [
      "an array of a negative length",
      withArgs({ name: "a", type: { array: ["u8", -1] } }),
      "type.array[1] must be a whole number",
    ],
    [
      "a byte that is none",
      { ...old, instructions: [{ ...old.instructions[0], discriminator: [256] }] },
      "discriminator[0] must be a whole number",
    ],
    ["no address", { ...old, metadata: {} }, "names no address"],
    ["an address that is none", { ...old, metadata: { address: "1234" } }, "names no address of a program: 1234"],
    ["a long name", { ...old, name: "n".repeat(129) }, "name must have 1 to 128 characters"],
    ["a node of Codama without a program", { kind: "rootNode" }, "program must be an object"],
  ];
  for (const [name, file, message] of cases) {
    test(`with ${name} is refused with its path`, () => {
      expect(() => programsOf(file)).toThrow(message);
    });
  }

  test("that is no JSON is refused", () => {
    expect(() => readIdl("{", null)).toThrow("the file is no JSON");
    expect(() => readIdl("[".repeat(1_000_000), null)).toThrow("the file is no JSON");
  });

  test("with types that hold themselves, or lists of nothing, decodes in bounded time", () => {
    const loops = {
      ...withArgs({ name: "a", type: { defined: "Loop" } }),
      types: [{ name: "Loop", type: { kind: "struct", fields: [{ name: "again", type: { defined: "Loop" } }] } }],
    };
    expect(decode(loops, [...hash("go")])).toMatchObject({ name: "go", args: null });
    const empty = {
      ...withArgs({ name: "a", type: { vec: { defined: "Empty" } } }),
      types: [{ name: "Empty", type: { kind: "struct", fields: [] } }],
    };
    expect(decode(empty, [...hash("go"), 0xff, 0xff, 0xff, 0xff])).toMatchObject({ name: "go", args: null });
    const wide = withArgs({ name: "__proto__", type: "u8" }, { name: "a", type: { vec: { vec: { vec: "u8" } } } });
    expect(decode(wide, [...hash("go"), 1, ...new Array(400).fill(255)])).toMatchObject({ args: null });
    expect(Object.keys(decode(wide, [...hash("go"), 1, 0, 0, 0, 0])?.args ?? {})).toEqual(["__proto__", "a"]);
  });
});

test("data that are cut or drawn never throw, and are told by name without arguments", () => {
  const programs = programsOf(old);
  for (let length = 0; length <= orderData.length; length += 1) {
    const data = Uint8Array.from(orderData.slice(0, length));
    const decoded = programs.decode({ programId: address, accounts, data });
    if (length < 8) expect(decoded).toBeNull();
    else expect(decoded).toMatchObject({ name: "placeOrder", args: length === orderData.length ? orderArgs : null });
  }
  let state = 1;
  for (let run = 0; run < 2_000; run += 1) {
    const data = Uint8Array.from(orderData, (byte, at) => {
      state = (state * 48_271) % 2_147_483_647;
      return at < 8 || state % 4 > 0 ? byte : state & 255;
    });
    expect(programs.decode({ programId: address, accounts, data })?.name).toBe("placeOrder");
  }
});
