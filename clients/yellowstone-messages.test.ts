import { expect, test } from "bun:test";
import { type EnumTypeDefinition, loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import { protoFiles, protoLoading } from "@sluice/contract/proto";

/** A message of the client, as its generator writes it. */
interface ClientMessage {
  decode(bytes: Uint8Array): Record<string, unknown>;
  encode(message: unknown): { finish(): Uint8Array };
  fromPartial(message: object): Record<string, unknown>;
}

interface Field {
  readonly name: string;
  readonly number: number;
  readonly type: string;
  readonly typeName: string;
  readonly label: string;
}

/** Its modules are not among what the package exports by name. */
const client = new URL("./grpc/", import.meta.resolve("@triton-one/yellowstone-grpc"));
const theirs: Readonly<Record<string, unknown>> = {
  ...(await import(new URL("geyser.js", client).pathname)),
  ...(await import(new URL("solana-storage.js", client).pathname)),
};
const isMessage = (value: unknown): value is ClientMessage =>
  typeof value === "object" && value !== null && "fromPartial" in value;

const definitions = Object.entries(loadSync(protoFiles.geyser, protoLoading)).flatMap(([path, each]) => {
  const isOurs = path.startsWith("geyser.") || path.startsWith("solana.");
  return isOurs && "format" in each ? [each as MessageTypeDefinition<object, object> | EnumTypeDefinition] : [];
});
const ours = definitions.map((each) => ({ ...each, type: each.type as { name: string } }));
const named = new Set(ours.map(({ type }) => type.name));
const fieldsOf = (type: object): readonly Field[] => ("field" in type ? (type.field as Field[]) : []);
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** One item of a field as bytes: its tag, then a value that is not its default. */
function bytesOf({ number, type, typeName }: Field): Uint8Array {
  const tag = (wireType: number) =>
    number < 16 ? [number * 8 + wireType] : [((number * 8 + wireType) & 0x7f) | 0x80, (number * 8) >> 7];
  if (type === "TYPE_DOUBLE") return Uint8Array.of(...tag(1), 0, 0, 0, 0, 0, 0, 0xf0, 0x3f);
  if (type === "TYPE_STRING" || type === "TYPE_BYTES") return Uint8Array.of(...tag(2), 1, 0x31);
  // Of a map: an entry with the key 1 and an empty message.
  const isMap = type === "TYPE_MESSAGE" && !named.has(typeName.replace(/^.*\./, "")) && !typeName.endsWith("Timestamp");
  if (isMap) return Uint8Array.of(...tag(2), 5, 0x0a, 1, 0x31, 0x12, 0);
  if (type === "TYPE_MESSAGE") return Uint8Array.of(...tag(2), 0);
  return Uint8Array.of(...tag(0), 1);
}

test("the client has the messages, and in each the fields, of the .proto files", () => {
  const messages = ours.filter(({ type }) => "field" in type);
  expect(messages.length).toBeGreaterThan(60);
  for (const { type } of messages) {
    const message = theirs[type.name];
    if (!isMessage(message)) throw new Error(`the client has no message ${type.name}`);
    const names = fieldsOf(type).map(({ name }) => camel(name));
    expect([type.name, ...Object.keys(message.fromPartial({}))].toSorted()).toEqual([type.name, ...names].toSorted());
  }
  // Entries of maps, and a stream of gossip, which no method of the client asks for.
  const entries = /_[A-Za-z]+Entry$|Gossip|ContactInfo/;
  const unknown = Object.entries(theirs).filter(([name, each]) => isMessage(each) && !named.has(name));
  expect(unknown.map(([name]) => name).filter((name) => !entries.test(name))).toEqual([]);
});

test("the client reads each field at its number, with its type, and writes it back", () => {
  let checked = 0;
  for (const { type } of ours) {
    const message = theirs[type.name];
    if (!isMessage(message)) continue;
    const empty = message.fromPartial({});
    for (const field of fieldsOf(type)) {
      const read = message.decode(bytesOf(field));
      const changed = Object.keys(read).filter((name) => !Bun.deepEquals(read[name], empty[name]));
      expect(`${type.name}.${changed.join()}`).toBe(`${type.name}.${camel(field.name)}`);
      const written = message.encode(read).finish();
      expect(Bun.deepEquals(message.decode(written), read)).toBe(true);
      checked++;
    }
  }
  expect(checked).toBeGreaterThan(200);
});

test("the client and the .proto files agree on what lies in each message, and on presence", () => {
  for (const each of ours) {
    const message = theirs[each.type.name];
    if (!isMessage(message) || !("deserialize" in each)) continue;
    for (const field of fieldsOf(each.type)) {
      // Which the client turns into a Date.
      if (field.typeName.endsWith("Timestamp") && field.name === "created_at") continue;
      const loaded = each.deserialize(Buffer.from(bytesOf(field))) as Record<string, unknown>;
      const value = loaded[field.name];
      const read = message.decode(bytesOf(field))[camel(field.name)];
      const inner = (item: unknown): string[] => {
        if (Array.isArray(item)) return inner(item[0]);
        if (typeof item !== "object" || item === null || item instanceof Uint8Array) return [];
        return "1" in item ? inner(item[1]) : Object.keys(item).map(camel);
      };
      const extra = inner(value).filter((name) => !inner(read).includes(name));
      expect([`${each.type.name}.${field.name}`, ...extra]).toEqual([`${each.type.name}.${field.name}`]);
    }
    const present = Object.keys(each.deserialize(Buffer.alloc(0))).map(camel);
    const defaults = message.fromPartial({});
    const always = Object.keys(defaults).filter((name) => defaults[name] !== undefined);
    const nullable = new Set(
      fieldsOf(each.type)
        .filter((field) => field.type === "TYPE_MESSAGE")
        .map(({ name }) => camel(name)),
    );
    const plain = (names: readonly string[]) => names.filter((name) => !nullable.has(name)).toSorted();
    expect(plain(present)).toEqual(plain(always));
  }
});

test("the client's enumerations have the names and numbers of the .proto files", () => {
  const enumerations = ours.filter(({ type }) => "value" in type);
  expect(enumerations).toHaveLength(5);
  for (const { type } of enumerations) {
    const values = (type as unknown as { value: { name: string; number: number }[] }).value;
    const { UNRECOGNIZED: _, ...known } = theirs[type.name] as Record<string, unknown>;
    const numbers = Object.entries(known).filter(([, value]) => typeof value === "number");
    expect(numbers).toEqual(values.map(({ name, number }) => [name, number]));
  }
});
