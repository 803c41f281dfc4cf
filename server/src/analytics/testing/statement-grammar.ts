import { sqlViews } from "@sluice/contract/sql";
import type { Random } from "@sluice/lib";
import { allowedFunctions } from "../functions.ts";

/** Statements that a seed makes of what is allowed and what is not, most of them close to what may run. */

const forbiddenSources = [
  "sluice.requests",
  "system.processes",
  "numbers(10)",
  "file('/etc/passwd')",
  "merge('sluice', '.*')",
  "view(SELECT 1)",
  "requests",
  "remote('127.0.0.1', sluice.requests)",
  "`sluice.requests`",
  "{t:Identifier}",
] as const;
const forbiddenCalls = [
  "file('/etc/passwd')",
  "getSetting('log_comment')",
  "hostName()",
  "sleep(3)",
  "currentUser()",
  "version()",
  "hasColumnInTable('sluice', 'requests', 'at')",
  "sumState(1)",
] as const;
const literals = [
  "0",
  "1",
  "-1",
  "18446744073709551615",
  "0.5",
  "'x'",
  "''",
  "NULL",
  "[1, 2]",
  "(1, 'a')",
  "true",
  "'%a%'",
];
const operators = ["+", "-", "*", "/", "%", "=", "!=", "<", ">", "AND", "OR", "||", "LIKE", "IN"];
const oddities = [
  (sql: string) => `${sql}; ${sql}`,
  (sql: string) => `${sql} SETTINGS max_threads = 9`,
  (sql: string) => `${sql} FORMAT Null`,
  (sql: string) => `${sql} INTO OUTFILE '/tmp/hostile'`,
  (sql: string) => `EXPLAIN ${sql}`,
  (sql: string) => `INSERT INTO blocks ${sql}`,
  (sql: string) => `CREATE VIEW v AS ${sql}`,
  (sql: string) => sql.slice(0, Math.floor(sql.length / 2)),
  (sql: string) => sql.replace(" ", "/* ; */ -- \n"),
  (sql: string) => sql.replace("SELECT", "ＳＥＬＥＣＴ"),
];

class Grammar {
  readonly #random: Random;
  #depth = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  statement(): string {
    const sql = this.#select();
    return this.#chance(0.1) ? this.#one(oddities)(sql) : sql;
  }

  #select(): string {
    this.#depth++;
    const view = this.#one(sqlViews);
    const columns = view.columns.map(({ name }) => name);
    const picked = Array.from({ length: 1 + this.#below(3) }, () => this.#expression(columns));
    const parts = [
      this.#chance(0.1) ? `WITH t AS (SELECT 1 AS x) SELECT ${picked.join(", ")}` : `SELECT ${picked.join(", ")}`,
      this.#chance(0.9) ? `FROM ${this.#source(view.name)}` : "",
      this.#chance(0.15)
        ? `${this.#one(["INNER", "LEFT", "CROSS", "ANTI LEFT"])} JOIN ${this.#source("blocks")} AS b ON 1`
        : "",
      this.#chance(0.4) ? `WHERE ${this.#expression(columns)}` : "",
      this.#chance(0.2) ? `GROUP BY ${this.#one(columns)}` : "",
      this.#chance(0.2) ? `ORDER BY ${this.#expression(columns)}` : "",
      this.#chance(0.3) ? `LIMIT ${this.#one(["0", "1", "10", "1000000"])}` : "",
    ];
    this.#depth--;
    const sql = parts.filter((part) => part !== "").join(" ");
    return this.#chance(0.1) && this.#depth < 2
      ? `${sql} ${this.#one(["UNION ALL", "EXCEPT", "INTERSECT"])} ${this.#select()}`
      : sql;
  }

  #source(view: string): string {
    if (this.#chance(0.06)) return this.#one(forbiddenSources);
    return this.#depth < 3 && this.#chance(0.2) ? `(${this.#select()})` : view;
  }

  #expression(columns: readonly string[]): string {
    if (this.#depth > 5) return this.#one(columns);
    this.#depth++;
    const made = this.#anyExpression(columns);
    this.#depth--;
    return made;
  }

  #anyExpression(columns: readonly string[]): string {
    const choice = this.#below(100);
    if (choice < 40) return this.#one(columns);
    if (choice < 55) return this.#one(literals);
    if (choice < 57) return this.#one(forbiddenCalls);
    if (choice < 60) return `(${this.#select()})`;
    if (choice < 75) return `(${this.#expression(columns)} ${this.#one(operators)} ${this.#expression(columns)})`;
    if (choice < 78) return `CASE WHEN ${this.#expression(columns)} THEN 1 ELSE ${this.#expression(columns)} END`;
    if (choice < 80) return `count() OVER (PARTITION BY ${this.#one(columns)})`;
    const given = Array.from({ length: this.#below(4) }, () => this.#expression(columns));
    return `${this.#one(allowedFunctions)}(${given.join(", ")})`;
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }

  #one<T>(list: readonly T[]): T {
    const found = list[this.#below(list.length)];
    if (found === undefined) throw new Error("nothing to choose from");
    return found;
  }
}

export const randomStatement = (random: Random): string => new Grammar(random).statement();
