/** Reading TypeScript as text, exactly enough to check walls: comments and strings told apart from code, imports listed. */

export interface SourceFile {
  /** Path from the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Lines of a file; the end of the last one begins no other. */
export const linesOf = (file: SourceFile): number => file.text.trimEnd().split("\n").length;

export interface ImportStatement {
  readonly specifier: string;
  readonly line: number;
}

type Mode = "code" | "line-comment" | "block-comment" | "single" | "double" | "template";

const opens: Readonly<Record<string, Mode>> = { "'": "single", '"': "double", "`": "template" };
const closes: Readonly<Record<string, string>> = { single: "'", double: '"', template: "`" };

/**
 * The text with comments, and on request the insides of strings, replaced by spaces; offsets and lines stay as they
 * are. Expressions inside templates are code. Regular expressions are taken for code, which is safe as long as they hold
 * no unpaired quote; a quote in one is recognised by the slash before it.
 */
export function blank(text: string, options: { strings: boolean }): string {
  const out = text.split("");
  const hide = (at: number): void => {
    if (out[at] !== "\n") out[at] = " ";
  };
  let mode: Mode = "code";
  const templates: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    const next = text[at + 1] ?? "";
    if (mode === "code") {
      if (char === "/" && (next === "/" || next === "*")) {
        mode = next === "/" ? "line-comment" : "block-comment";
        hide(at);
        hide(++at);
      } else if (char === "/" && startsRegExp(text, at)) {
        at = endOfRegExp(text, at);
      } else if (opens[char] !== undefined) {
        mode = opens[char];
      } else if (char === "{") {
        depth++;
      } else if (char === "}") {
        if (templates.at(-1) === depth) {
          templates.pop();
          mode = "template";
        } else depth--;
      }
    } else if (mode === "line-comment") {
      if (char === "\n") mode = "code";
      else hide(at);
    } else if (mode === "block-comment") {
      hide(at);
      if (char === "*" && next === "/") {
        hide(++at);
        mode = "code";
      }
    } else if (char === "\\") {
      if (options.strings) {
        hide(at);
        hide(at + 1);
      }
      at++;
    } else if (char === closes[mode]) {
      mode = "code";
    } else if (mode === "template" && char === "$" && next === "{") {
      templates.push(depth);
      at++;
      mode = "code";
    } else if (options.strings) hide(at);
  }
  return out.join("");
}

function startsRegExp(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 40), at).trimEnd();
  return /(^|[=(,:[!&|?{};>+]|\breturn|\btypeof|\bcase)$/.test(before) && !/<$/.test(before);
}

function endOfRegExp(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === "\n") return from;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return at;
  }
  return from;
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** Every static, side-effect and dynamic import and every re-export; `new URL("./x.ts", import.meta.url)` counts too. */
export function importsOf(file: SourceFile): ImportStatement[] {
  const code = blank(file.text, { strings: false });
  const patterns = [
    /\b(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']/g,
    /\bimport\s*\(?\s*["']([^"']+)["']/g,
    /\brequire(?:\.resolve)?\(\s*["']([^"']+)["']/g,
    /\bnew URL\(\s*["']([^"']+)["']\s*,\s*import\.meta\.url/g,
    /\bimport\.meta\.resolve\(\s*["']([^"']+)["']/g,
  ];
  return patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => ({ specifier: match[1] ?? "", line: lineOf(code, match.index) })),
  );
}

export interface FunctionSpan {
  readonly line: number;
  readonly lines: number;
}

const controls = new Set(["if", "for", "while", "switch", "catch", "with", "await"]);

/** The bodies of functions, methods and arrow functions, by their braces, with their length in lines. */
export function functionsOf(file: SourceFile): FunctionSpan[] {
  const code = blank(file.text, { strings: true });
  const stack: { offset: number; isFunction: boolean }[] = [];
  const found: FunctionSpan[] = [];
  for (let at = 0; at < code.length; at++) {
    if (code[at] === "{") stack.push({ offset: at, isFunction: opensFunction(code, at) });
    else if (code[at] === "}") {
      const open = stack.pop();
      if (open?.isFunction) {
        const line = lineOf(code, open.offset);
        found.push({ line, lines: lineOf(code, at) - line + 1 });
      }
    }
  }
  return found;
}

function opensFunction(code: string, at: number): boolean {
  const before = code.slice(Math.max(0, at - 400), at).trimEnd();
  if (before.endsWith("=>")) return true;
  // After these a brace opens a type or a value.
  if (/[<|&,:=([]$/.test(before)) return false;
  // A class may follow signatures of an interface, which end in what looks like a function's head.
  if (/\b(class|interface)\b[^;{}()]*$/.test(before)) return false;
  const closing = /\)(\s*:\s*[\w<>[\]|&,.\s"'?{}:;]+)?$/.exec(before);
  if (closing === null) return false;
  let depth = 0;
  for (let index = closing.index; index >= 0; index--) {
    if (before[index] === ")") depth++;
    else if (before[index] === "(" && --depth === 0) {
      const word = /(\w+)\s*$/.exec(before.slice(0, index))?.[1];
      return word !== undefined && !controls.has(word);
    }
  }
  return false;
}
