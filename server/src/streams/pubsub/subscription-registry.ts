/**
 * Subscriptions and requests of one client that are remembered; a client beyond it is passed through, but not moved.
 */
export const remembersMax = 1_000;

interface Held {
  /** The method and parameters with which it was made, as JSON text. */
  readonly method: string;
  readonly params: string;
  /** The number that the client knows it by. */
  readonly clientId: number;
  /** The number that the present node knows it by; null until that node has answered. */
  nodeId: number | null;
}

interface Asked {
  readonly text: string;
  readonly method: string;
  readonly params: string;
}

/** The prefix of the ids of the gateway's own requests; no client's id may be taken for one. */
const ownPrefix = "sluice-moved-";

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

function parsed(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const notificationStart = /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"method"\s*:\s*"(\w+)Notification"/;
const member = '"subscription":';

/**
 * What a client has subscribed to, so that it can be moved to another node: there every subscription is made again, and
 * since that node numbers them as it likes, numbers are changed on the way, in both directions. Until the first move
 * nothing is: frames pass byte for byte, and only answers to what the client asked are looked into.
 */
export class SubscriptionRegistry {
  /** By the number that the client knows. */
  readonly #held = new Map<number, Held>();
  /** By the number of the present node. */
  readonly #byNode = new Map<number, Held>();
  /** Requests that the present node has not answered, by the text of their id. */
  readonly #asked = new Map<string, Asked>();
  #hasMoved = false;
  #nextOwn = 0;
  readonly #own = new Map<string, Held>();
  /** False when it has seen more than it remembers, or what it does not read (batches). */
  canMove = true;

  get size(): number {
    return this.#held.size;
  }

  /** A client's message as the present node receives it. */
  fromClient(text: string): string {
    const message = parsed(text);
    const id = message?.id;
    if (message === null || (typeof id !== "number" && typeof id !== "string") || typeof message.method !== "string") {
      if (text.trimStart().startsWith("[")) this.canMove = false;
      return text;
    }
    const params = Array.isArray(message.params) ? message.params : [];
    const asked = { text, method: message.method, params: JSON.stringify(params) };
    if (this.#asked.size + this.#held.size >= remembersMax) this.canMove = false;
    else this.#asked.set(JSON.stringify(id), asked);
    const [first] = params;
    if (!message.method.endsWith("Unsubscribe") || typeof first !== "number") return text;
    const held = this.#held.get(first);
    return held === undefined || held.nodeId === null || held.nodeId === first
      ? text
      : JSON.stringify({ jsonrpc: "2.0", id, method: message.method, params: [held.nodeId] });
  }

  /** A node's message as the client receives it; null when it is not for the client. */
  fromNode(text: string): string | null {
    const kind = notificationStart.exec(text)?.[1];
    if (kind !== undefined) return this.#notification(text, kind);
    if (this.#asked.size === 0 && this.#own.size === 0) return text;
    const message = parsed(text);
    const id = message?.id;
    if (message === null || (typeof id !== "number" && typeof id !== "string")) return text;
    const held = typeof id === "string" ? this.#own.get(id) : undefined;
    if (held !== undefined) return this.#remade(String(id), held, message);
    return this.#answered(text, JSON.stringify(id), message);
  }

  /** The node is gone: the messages for the next one, oldest first. */
  moved(): string[] {
    this.#hasMoved = true;
    this.#byNode.clear();
    this.#own.clear();
    const said: string[] = [];
    for (const held of this.#held.values()) {
      held.nodeId = null;
      const id = `${ownPrefix}${this.#nextOwn}`;
      this.#nextOwn += 1;
      this.#own.set(id, held);
      said.push(`{"jsonrpc":"2.0","id":"${id}","method":"${held.method}","params":${held.params}}`);
    }
    return [...said, ...[...this.#asked.values()].map(({ text }) => text)];
  }

  /** Whether a subscription that was made before could not be made again, and the client would never learn of it. */
  hasLostOne = false;

  #notification(text: string, kind: string): string | null {
    if (!this.#hasMoved && kind !== "signature") return text;
    const at = text.lastIndexOf(member);
    const nodeId = at < 0 ? Number.NaN : Number.parseInt(text.slice(at + member.length), 10);
    const held = this.#byNode.get(nodeId);
    // The node ends a signature's subscription with its last notice; made again elsewhere, it would notify twice.
    if (held !== undefined && kind === "signature" && !text.includes('"receivedSignature"')) this.#forget(held);
    if (!this.#hasMoved) return text;
    if (held === undefined) return null;
    if (held.clientId === nodeId) return text;
    const end = at + member.length + String(nodeId).length;
    return `${text.slice(0, at)}${member}${held.clientId}${text.slice(end)}`;
  }

  #remade(id: string, held: Held, message: Message): null {
    this.#own.delete(id);
    if (typeof message.result !== "number") this.hasLostOne = true;
    else if (this.#held.get(held.clientId) === held) {
      held.nodeId = message.result;
      this.#byNode.set(message.result, held);
    }
    return null;
  }

  #answered(text: string, id: string, message: Message): string {
    const asked = this.#asked.get(id);
    if (asked === undefined) return text;
    this.#asked.delete(id);
    if (asked.method.endsWith("Unsubscribe")) {
      const [clientId] = JSON.parse(asked.params) as unknown[];
      const held = typeof clientId === "number" ? this.#held.get(clientId) : undefined;
      if (held !== undefined && message.result === true) this.#forget(held);
      return text;
    }
    if (!asked.method.endsWith("Subscribe") || typeof message.result !== "number") return text;
    const nodeId = message.result;
    const clientId = this.#freeId(nodeId);
    const held: Held = { method: asked.method, params: asked.params, clientId, nodeId };
    this.#held.set(clientId, held);
    this.#byNode.set(nodeId, held);
    return clientId === nodeId ? text : `{"jsonrpc":"2.0","result":${clientId},"id":${id}}`;
  }

  /** The node's own number, unless the client knows another subscription of another node by it. */
  #freeId(nodeId: number): number {
    const known = this.#held.get(nodeId);
    if (known === undefined || known.nodeId === nodeId) return nodeId;
    let free = nodeId + 1_000_000;
    while (this.#held.has(free)) free += 1;
    return free;
  }

  #forget(held: Held): void {
    this.#held.delete(held.clientId);
    if (held.nodeId !== null) this.#byNode.delete(held.nodeId);
  }
}
