import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPrograms } from "./programs.ts";

const address = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const idl = { version: "0.1.0", name: "market", instructions: [{ name: "go", accounts: [], args: [] }] };

test("files of a directory are read, and one that cannot be is named with the path in it", () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-idls-"));
  try {
    const write = (name: string, content: unknown) => writeFileSync(join(directory, name), JSON.stringify(content));
    const first = join(directory, `${address}.json`);
    expect(readPrograms({ programIdls: null }).size).toBe(0);
    write("notes.txt", "no file of a program");
    write(`${address}.json`, idl);
    expect(readPrograms({ programIdls: directory }).size).toBe(1);
    write("again.json", { ...idl, metadata: { address } });
    expect(() => readPrograms({ programIdls: directory })).toThrow(
      `PROGRAM_IDLS: ${join(directory, "again.json")}: describes ${address}, as ${first} does`,
    );
    write("again.json", {
      ...idl,
      metadata: { address },
      instructions: [{ name: "go", accounts: [], args: [{ name: "a", type: "u7" }] }],
    });
    expect(() => readPrograms({ programIdls: directory })).toThrow(
      `${join(directory, "again.json")}: instructions[0].args[0].type names no type: u7`,
    );
    write("again.json", "x".repeat(5_000_000));
    expect(() => readPrograms({ programIdls: directory })).toThrow("at most 4194304 bytes");
    expect(() => readPrograms({ programIdls: join(directory, "absent") })).toThrow("PROGRAM_IDLS: ");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
