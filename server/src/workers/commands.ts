import type { ServerStatus, WorkersReport } from "@sluice/contract/schemas";
import { type ProbeSource, pathOf, problemResponse, targetOf } from "../http/index.ts";
import type { Crew, CrewWorker } from "./crew.ts";

/** A worker that commands can be passed on to. */
export interface CommandedWorker extends CrewWorker {
  readonly socketPath: string;
}

export interface CommandsDependencies {
  readonly crew: Pick<Crew<CrewWorker>, "lastRestart" | "restart">;
  readonly workers: () => readonly CommandedWorker[];
  readonly nowMs: () => number;
  readonly health: () => Promise<ProbeSource>;
  /** What the host itself is, in place of what the worker that was asked says. */
  readonly host: () => Pick<ServerStatus, "pid" | "uptime_seconds" | "roles">;
}

/** What only the process that runs the other roles knows: their figures and their counts. */
const ofOthers = [/^\/ingest(\/|$)/, /^\/api\/v1\/admin\/(engine|searchers)(\/|$)/, /^\/accounts\/[^/]+\/usage$/];

/** The commands of `sluice` on the host's socket: what is about workers is answered here, the rest by one of them. */
export class Commands {
  readonly #dependencies: CommandsDependencies;

  constructor(dependencies: CommandsDependencies) {
    this.#dependencies = dependencies;
  }

  async answer(request: Request, requestId: string): Promise<Response> {
    const { crew } = this.#dependencies;
    const path = pathOf(targetOf(request.url));
    const isPost = request.method === "POST";
    if (path === "/health") return Response.json({ status: "ok" });
    if (path === "/workers") return Response.json(this.#report());
    if (path === "/status") return await this.#status(request, requestId);
    if (path === "/workers/restart" && isPost) {
      if (crew.restart()) return Response.json(this.#report(), { status: 202 });
      return problemResponse("CONFLICT", {
        requestId,
        message: "The workers are being restarted already, or the server ends",
      });
    }
    return await this.#pass(request, { path, requestId });
  }

  #report(): WorkersReport {
    const { crew, workers, nowMs } = this.#dependencies;
    return {
      workers: workers().map(({ number, pid, isServing, failures, openedAtMs }) => ({
        worker: number,
        pid,
        state: pid === null ? "starting" : isServing ? "serving" : "open",
        uptime_seconds: pid === null ? 0 : Math.floor((nowMs() - openedAtMs) / 1_000),
        failures,
      })),
      restart: crew.lastRestart === null ? null : { ...crew.lastRestart, restarted: [...crew.lastRestart.restarted] },
    };
  }

  async #status(request: Request, requestId: string): Promise<Response> {
    const { health, host } = this.#dependencies;
    const answer = await this.#pass(request, { path: "/status", requestId });
    if (!answer.ok) return answer;
    const status = (await answer.json()) as ServerStatus;
    const probes = await health();
    const { parts, status: state } = probes.health();
    const { reasons } = probes.ready(null);
    return Response.json({ ...status, ...host(), status: state, parts, reasons, workers: this.#report().workers });
  }

  /** Passes a request on to the worker that knows, else to the first that listens. */
  async #pass(
    request: Request,
    { path, requestId }: { readonly path: string; readonly requestId: string },
  ): Promise<Response> {
    const open = this.#dependencies.workers().filter(({ pid }) => pid !== null);
    const gateways = open.filter(({ number }) => number > 0);
    const others = ofOthers.some((pattern) => pattern.test(path)) ? open.filter(({ number }) => number === 0) : [];
    const [worker] = [...others, ...gateways];
    if (worker === undefined) return problemResponse("OVERLOADED", { requestId, message: "No worker listens now" });
    const body = request.method === "GET" ? null : await request.arrayBuffer();
    try {
      const answer = await fetch(`http://sluice${targetOf(request.url)}`, {
        method: request.method,
        headers: request.headers,
        unix: worker.socketPath,
        ...(body === null || body.byteLength === 0 ? {} : { body }),
      });
      return new Response(answer.body, { status: answer.status, headers: answer.headers });
    } catch {
      return problemResponse("OVERLOADED", { requestId, message: `Worker ${worker.number} ended before it answered` });
    }
  }
}
