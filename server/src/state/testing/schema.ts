/** A schema of a test's own in PostgreSQL, so that runs do not meet; gone when it is disposed of. */
import { randomUUID } from "node:crypto";
import { Client } from "pg";

export interface Schema extends AsyncDisposable {
  /** The database's address with the schema as the one that is worked in. */
  readonly url: string;
}

export async function newSchema(databaseUrl: string): Promise<Schema> {
  const name = `sluice_test_${randomUUID().replaceAll("-", "")}`;
  const execute = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await execute(`create schema ${name}`);
  const url = new URL(databaseUrl);
  url.searchParams.set("options", `-c search_path=${name}`);
  return { url: url.href, [Symbol.asyncDispose]: () => execute(`drop schema ${name} cascade`) };
}
