import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { quotedIdentifier, readStatement, stringLiteral } from "./statement.ts";

describe("the closing FORMAT clause", () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ["SELECT 1 FORMAT JSON", "JSON"],
    ["SELECT 1\nFORMAT\nJSONEachRow;  -- end", "JSONEachRow"],
    ["SELECT 1 format TSV SETTINGS max_threads = 1, readonly = 2", "TSV"],
    ["SELECT 1 SETTINGS max_threads = 1 FORMAT CSV", "CSV"],
    ["SELECT 1", null],
    ["SELECT 'FORMAT JSON'", null],
    ["SELECT 1 -- FORMAT JSON", null],
    ["SELECT 1 /* FORMAT JSON */", null],
    ["SELECT $a$ FORMAT JSON $a$", null],
    ["SELECT format f FROM t", null],
    ["SELECT x AS format, y FROM t", null],
    ["SELECT (SELECT 1 FORMAT JSON)", null],
    ["SELECT `a\\`` FORMAT JSON", "JSON"],
    ["SELECT 'it''s' FORMAT JSON", "JSON"],
    ["SELECT ‘text’ FORMAT JSON", "JSON"],
  ];
  for (const [sql, format] of cases) {
    test(`of ${JSON.stringify(sql)} is ${format}`, () => expect(readStatement(sql).format).toBe(format));
  }
});

describe("INSERT", () => {
  test("with FORMAT takes data, which begins on the next line", () => {
    const sql = 'INSERT INTO t (a, b) SETTINGS x = 1 FORMAT JSONEachRow\n{"a": "; SELECT"}';
    const read = readStatement(sql);
    expect(read.takesData).toBe(true);
    expect(read.format).toBe("JSONEachRow");
    expect(sql.slice(read.dataAt ?? 0)).toBe('{"a": "; SELECT"}');
    expect(sql.slice(read.infileAt ?? 0).startsWith("SETTINGS")).toBe(true);
    expect(read.several).toBe(false);
  });

  test("with VALUES takes data, whatever is in it", () => {
    const sql = "INSERT INTO t VALUES (1, 'a;b'); SELECT 1";
    const read = readStatement(sql);
    expect([read.takesData, read.format, sql.slice(read.dataAt ?? 0)]).toEqual([
      true,
      "Values",
      " (1, 'a;b'); SELECT 1",
    ]);
  });

  test("of a query or of a file takes none", () => {
    for (const sql of [
      "INSERT INTO t SELECT 1",
      "INSERT INTO t WITH 1 AS x SELECT x",
      "INSERT INTO t FROM INFILE 'f' FORMAT CSV",
    ]) {
      expect(readStatement(sql).takesData).toBe(false);
    }
  });
});

describe("what is refused is seen", () => {
  test("several statements, but not a closing semicolon or one in text or comments", () => {
    expect(readStatement("SELECT 1; SELECT 2").several).toBe(true);
    expect(readStatement("SELECT 1;/* */ SET ROLE x").several).toBe(true);
    for (const sql of ["SELECT 1;", "SELECT 1 ; -- x\n", "SELECT ';a'", "SELECT 1 /* ; */", 'SELECT ";" '])
      expect(readStatement(sql).several).toBe(false);
  });

  test("INTO OUTFILE, in any case and with comments between", () => {
    expect(readStatement("SELECT 1 into /* */ OutFile 'x'").intoOutfile).toBe(true);
    expect(readStatement("SELECT 'INTO OUTFILE'").intoOutfile).toBe(false);
  });

  test("nothing at all", () => {
    expect(readStatement(" -- a\n/* b */ ").empty).toBe(true);
    expect(readStatement("SELECT 1").empty).toBe(false);
  });
});

test("a literal or an identifier of any text is one token and hides what it holds", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const read = readStatement(`SELECT ${stringLiteral(text)} AS ${quotedIdentifier(text)} FORMAT JSON`);
      expect([read.format, read.several, read.intoOutfile]).toEqual(["JSON", false, false]);
    }),
    { numRuns: 500 },
  );
});

test("reading never throws and gives offsets inside the text", () => {
  const piece = fc.constantFrom(
    "INSERT INTO t ",
    "FORMAT ",
    "VALUES",
    "SETTINGS ",
    "(",
    ")",
    "'",
    "`",
    '"',
    "\\",
    ";",
    "/*",
    "--",
    "\n",
    "$a$",
    "x",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      const text = pieces.join("");
      const read = readStatement(text);
      for (const at of [read.dataAt ?? 0, read.infileAt ?? 0]) {
        expect(at).toBeGreaterThanOrEqual(0);
        expect(at).toBeLessThanOrEqual(text.length);
      }
    }),
    { numRuns: 500 },
  );
});
