import { sqlViews } from "@sluice/contract/sql";
import { isAllowedFunction, listFunctions, membershipFunctions, searchFunctions, typedFunctions } from "./functions.ts";
import { readSyntaxTree, type SyntaxNode } from "./syntax-tree.ts";

/**
 * What a statement of a customer may be: one SELECT over the views, of node kinds and functions that are listed here
 * and nowhere else. What is not known is refused. The judgement is of the tree that the engine itself made of the text
 * that it will run, so that both read the same.
 */

export type StatementVerdict =
  | {
      readonly ok: true;
      readonly views: readonly string[];
      /** A SELECT of the result has no FROM: the engine holds such a one to no bound unless it is a subquery. */
      readonly isBare: boolean;
    }
  | { readonly ok: false; readonly what: string; readonly message: string };

const refused = (what: string, message: string): StatementVerdict => ({ ok: false, what, message });

/** Kinds of nodes that compute or combine, and hold nothing that their children and names do not tell. */
const allowedKinds: ReadonlySet<string> = new Set([
  "SelectWithUnionQuery",
  "SelectIntersectExceptQuery",
  "SelectQuery",
  "Subquery",
  "WithElement",
  "ExpressionList",
  "Identifier",
  "Literal",
  "Function",
  "Asterisk",
  "QualifiedAsterisk",
  "ColumnsRegexpMatcher",
  "ColumnsListMatcher",
  "ColumnsTransformerList",
  "ColumnsExceptTransformer",
  "ColumnsReplaceTransformer",
  "ColumnsReplaceTransformer::Replacement",
  "TablesInSelectQuery",
  "TablesInSelectQueryElement",
  "TableExpression",
  "TableIdentifier",
  "TableJoin",
  "ArrayJoin",
  "OrderByElement",
  "WindowDefinition",
  "WindowListElement",
  "InterpolateElement",
]);

/** Words for what is refused; every other kind is told by the engine's own name. */
const refusedKinds: Readonly<Record<string, string>> = {
  Set: "SETTINGS",
  SampleRatio: "SAMPLE",
  ColumnsApplyTransformer: "APPLY",
  QueryParameter: "a parameter without a value",
};

const viewNames: ReadonlySet<string> = new Set(sqlViews.map(({ name }) => name));
/** Columns of views that are lists, each of them of one transaction. */
const listColumns: ReadonlySet<string> = new Set(
  sqlViews.flatMap(({ columns }) => columns.flatMap(({ name, type }) => (type.startsWith("Array(") ? [name] : []))),
);

/** Beginnings of the one-line form of a query; everything else is another kind of statement. */
const queryForm = /^\(*\s*(?:SELECT|WITH|FROM)\b/i;
/** In the one-line form a table of WITH is written so. */
const commonTable = /(?:\bWITH (?:RECURSIVE )?|, )(?:`([^`\\]+)`|([A-Za-z_]\w*)) AS (?:MATERIALIZED )?\(/gi;

/** Checks that need the text alone: its kind, and quoted names that could not be told from the tree's own words. */
export function judgeText(formatted: string): StatementVerdict | null {
  if (!queryForm.test(formatted)) return refused("the kind of statement", "Only SELECT is allowed");
  for (const [found] of formatted.matchAll(quotedForm)) {
    if (!found.startsWith("'") && !clearName.test(found.slice(1, -1))) {
      return refused("a quoted name", `The quoted name ${found.slice(0, 40)} has characters that are not allowed`);
    }
  }
  const plain = formatted.replaceAll(quotedForm, "''");
  const clause = refusedClauses.find(([form]) => form.test(plain));
  return clause === undefined ? null : refused(clause[1], clause[2]);
}

/** Literals and quoted names are found together, since each may hold the other's quote. */
const quotedForm = /'(?:[^'\\]|\\.|'')*'|`(?:[^`\\]|\\.|``)*`|"(?:[^"\\]|\\.|"")*"/gs;

/** What ends a statement and would act on the look at its syntax tree already. */
const refusedClauses: readonly (readonly [form: RegExp, what: string, message: string])[] = [
  [/\bINTO\s+OUTFILE\b/i, "INTO OUTFILE", "INTO OUTFILE is not allowed"],
  [/\bSETTINGS\s+\w/, "SETTINGS", "SETTINGS is not allowed"],
  [/\bFORMAT\s+\w+\s*$/i, "FORMAT", "FORMAT is not allowed in the text: name the format in `format`"],
  [/\bPARALLEL\s+WITH\b/i, "PARALLEL WITH", "PARALLEL WITH is not allowed"],
];

const clearName = /^[\p{L}\p{N}_ .:%#-]{1,128}$/u;

/** Judges the syntax tree of the one-line form of a statement. */
export function judgeTree(lines: readonly string[], formatted: string): StatementVerdict {
  const root = readSyntaxTree(lines);
  if (root === null) return refused("a name", "A name in the statement has characters that are not allowed");
  if (root.kind !== "SelectWithUnionQuery") return refused("the kind of statement", "Only SELECT is allowed");
  const beside = root.children.slice(1);
  if (beside.length > 0) return refusedClause(beside);
  const tables = new Set<string>();
  for (const [, quoted, plain] of formatted.matchAll(commonTable)) {
    // A name with a dot would pass for a table of a database.
    const name = quoted ?? plain ?? "";
    if (!name.includes(".")) tables.add(name);
  }
  return new TreeJudge(tables).judge(root);
}

/** What stands beside the query itself: FORMAT, INTO OUTFILE, SETTINGS. */
function refusedClause(nodes: readonly SyntaxNode[]): StatementVerdict {
  if (nodes.some(({ kind }) => kind === "Literal")) return refused("INTO OUTFILE", "INTO OUTFILE is not allowed");
  if (nodes.some(({ kind }) => kind === "Identifier")) {
    return refused("FORMAT", "FORMAT is not allowed in the text: name the format in `format`");
  }
  return refused("SETTINGS", "SETTINGS is not allowed");
}

/** Nodes that are read for one statement; the engine's own bound of elements is lower. */
const nodesMax = 40_000;

const searchedLengthMax = 1_000;

class TreeJudge {
  /** Tables that the statement defines itself. */
  readonly #own: ReadonlySet<string>;
  readonly #views = new Set<string>();
  readonly #aliases = new Set<string>();
  /** Names of values that are not columns of views: aliases, parameters of lambdas, columns that are replaced. */
  readonly #made = new Set<string>();

  constructor(own: ReadonlySet<string>) {
    this.#own = own;
  }

  judge(root: SyntaxNode): StatementVerdict {
    const nodes: SyntaxNode[] = [];
    const waiting = [root];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (nodes.length >= nodesMax) return refused("its length", "The statement has too many parts");
      nodes.push(node);
      if (node.alias !== null) this.#aliases.add(node.alias);
      this.#addMade(node);
      waiting.push(...node.children);
    }
    for (const node of nodes) {
      const refusal = this.#judgeNode(node);
      if (refusal !== null) return refusal;
    }
    return { ok: true, views: [...this.#views].toSorted(), isBare: isBare(root) };
  }

  #judgeNode(node: SyntaxNode): StatementVerdict | null {
    const { kind, text, children } = node;
    if (!allowedKinds.has(kind)) {
      const what = refusedKinds[kind] ?? kind.slice(0, 40);
      return refused(what, `${what} is not allowed`);
    }
    if (kind === "SelectWithUnionQuery" && children.length !== 1) return refusedClause(children.slice(1));
    if (kind === "Literal" && /AggregateFunction/i.test(text)) {
      return refused("AggregateFunction", "States of aggregates are not allowed");
    }
    if (kind === "Literal" && /\bMap\s*\(/.test(text)) return refused("Map", "Maps are not allowed");
    if (kind === "TableExpression") return this.#judgeTable(children);
    if (kind === "Function") return this.#judgeFunction(node);
    return null;
  }

  #addMade({ kind, text, alias, children }: SyntaxNode): void {
    if (alias !== null) this.#made.add(alias);
    if (kind === "ColumnsReplaceTransformer::Replacement") this.#made.add(text);
    if (kind !== "Function" || text !== "lambda") return;
    const waiting = [...(children[0]?.children.slice(0, 1) ?? [])];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (node.kind === "Identifier") this.#made.add(node.text);
      waiting.push(...node.children);
    }
  }

  /** Whether the statement did not make the list itself: it is a column of a view, or stands in the text. */
  #isGivenList({ kind, text }: SyntaxNode): boolean {
    if (kind === "Literal") return text.length <= searchedLengthMax;
    const name = text.slice(text.lastIndexOf(".") + 1);
    return kind === "Identifier" && listColumns.has(name) && !this.#made.has(name);
  }

  /** A table is a view, one of WITH, or a subquery. */
  #judgeTable(children: readonly SyntaxNode[]): StatementVerdict | null {
    for (const { kind, text } of children) {
      if (kind === "Function") {
        const name = text.slice(0, 60);
        return refused(`${name}()`, `The table function ${name} is not allowed`);
      }
      if (kind === "TableIdentifier" && !this.#takesTable(text)) {
        const name = text.slice(0, 60);
        return refused(name, `There is no view ${name}: the views are ${[...viewNames].join(", ")}`);
      }
    }
    return null;
  }

  #takesTable(name: string): boolean {
    if (viewNames.has(name) && !this.#own.has(name)) this.#views.add(name);
    return viewNames.has(name) || this.#own.has(name);
  }

  #judgeFunction({ text, children }: SyntaxNode): StatementVerdict | null {
    const name = text.toLowerCase();
    const shown = text.slice(0, 60);
    if (!isAllowedFunction(name)) return refused(`${shown}()`, `The function ${shown} is not allowed`);
    const values = children[0]?.children ?? [];
    if (typedFunctions.has(name) && values.length > 1 && values.at(-1)?.kind !== "Literal") {
      return refused(`${shown}()`, `The type in ${shown} must be written out`);
    }
    const searched = values[searchFunctions.get(name) ?? values.length];
    if (searched !== undefined && (searched.kind !== "Literal" || searched.text.length > searchedLengthMax)) {
      return refused(
        `${shown}()`,
        `What ${shown} looks for must be written out, or be a parameter, of at most ${searchedLengthMax} characters`,
      );
    }
    const [list] = values;
    if (listFunctions.has(name) && list !== undefined && !this.#isGivenList(list)) {
      return refused(
        `${shown}()`,
        `The list of ${shown} must be a column of a view or be written out; use IN or arrayExists for others`,
      );
    }
    const set = membershipFunctions.has(name) ? values[1] : undefined;
    if (set?.kind !== "Identifier" && set?.kind !== "TableIdentifier") return null;
    const isOwn = this.#aliases.has(set.text) && !set.text.includes(".");
    if (isOwn || this.#takesTable(set.text)) return null;
    return refused(set.text.slice(0, 60), `There is no view or list ${set.text.slice(0, 60)}`);
  }
}

/** Whether a SELECT that makes rows of the result, not one of a subquery, has no FROM. */
function isBare({ kind, children }: SyntaxNode): boolean {
  if (kind === "SelectQuery") return !children.some((child) => child.kind === "TablesInSelectQuery");
  const combined =
    kind === "SelectWithUnionQuery" || kind === "SelectIntersectExceptQuery" || kind === "ExpressionList";
  return combined && children.some(isBare);
}
