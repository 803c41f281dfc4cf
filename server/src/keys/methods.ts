/** A key's list of methods in the form in which it is asked on every call; null where the key may call all. */
export interface MethodSet {
  readonly exact: ReadonlySet<string>;
  /** "getToken" for "getToken*". */
  readonly prefixes: readonly string[];
}

/** Compiles a key's list of methods once. An empty list restricts nothing. */
export function compileMethods(entries: readonly string[]): MethodSet | null {
  if (entries.length === 0) return null;
  const prefixes = entries.filter((entry) => entry.endsWith("*")).map((entry) => entry.slice(0, -1));
  return { exact: new Set(entries.filter((entry) => !entry.endsWith("*"))), prefixes };
}

/** Whether the list allows the method. Who may subscribe to something may also end the subscription. */
export function allowsMethod(methods: MethodSet, method: string): boolean {
  if (isListed(methods, method)) return true;
  return method.endsWith(unsubscribe) && isListed(methods, `${method.slice(0, -unsubscribe.length)}Subscribe`);
}

const unsubscribe = "Unsubscribe";

function isListed({ exact, prefixes }: MethodSet, method: string): boolean {
  return exact.has(method) || prefixes.some((prefix) => method.startsWith(prefix));
}
