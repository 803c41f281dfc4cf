import { expect, test } from "bun:test";
import { customerPassword, customerUserStatements } from "./customer.ts";
import { createView, createViewsDatabase, revisionIn, viewDefinitions } from "./views.ts";

const form = { database: "facts", cluster: "main" };

test("on a cluster the customers' user is made on every server, without its password in the statements", () => {
  const password = customerPassword("secret of the ledger");
  const statements = customerUserStatements(form, password);
  expect(statements.every((sql) => sql.includes("ON CLUSTER 'main'"))).toBe(true);
  expect(statements.join("\n")).not.toContain(password);
  expect(statements.join("\n")).not.toContain("secret of the ledger");
  const grants = statements.filter((sql) => sql.startsWith("GRANT"));
  expect(grants).toEqual(["GRANT ON CLUSTER 'main' SELECT ON facts_views.* TO sluice_customer"]);
  expect(statements.find((sql) => sql.startsWith("CREATE ROW POLICY"))).toContain("ON facts.* FOR SELECT USING 0");
});

test("the password follows from the ledger's own, and differs from it", () => {
  expect(customerPassword("a")).toBe(customerPassword("a"));
  expect(customerPassword("a")).not.toBe(customerPassword("b"));
  expect(customerPassword("a")).toMatch(/^[0-9a-f]{64}$/);
});

test("views are made on every server, in a database of their own, with their revision", () => {
  expect(createViewsDatabase(form)).toBe("CREATE DATABASE IF NOT EXISTS facts_views ON CLUSTER 'main'");
  for (const view of viewDefinitions) {
    const sql = createView(view, form);
    expect(sql).toStartWith(`CREATE OR REPLACE VIEW facts_views.${view.name} ON CLUSTER 'main'\n`);
    expect(sql).toContain("SQL SECURITY DEFINER");
    expect(revisionIn(/COMMENT '(.*)'$/.exec(sql)?.[1] ?? "")).toBe(view.revision);
  }
  for (const other of ["", "sluice view", "sluice view x", "mine"]) expect(revisionIn(other)).toBe(0);
});
