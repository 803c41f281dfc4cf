import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type RunningChild, spawnChild, waitForPort } from "./child.ts";
import { startRooms, startServer } from "./sluice.ts";
import type { Place, RunningSubject, Subject } from "./subject.ts";

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** A program without a key, once it listens. */
export async function listening(child: RunningChild, port: number): Promise<RunningSubject> {
  await waitForPort(port, child);
  return { port, path: "/", pid: child.pid, headers: {}, [Symbol.asyncDispose]: () => child.stop() };
}

/** One worker, as every subject here has one; no log, connections to the node kept open. */
function nginxConfig(port: number, { upstreamPort, directory, authorityFile }: Place, isCaching: boolean): string {
  const trust =
    authorityFile === undefined
      ? ""
      : `proxy_ssl_verify on; proxy_ssl_trusted_certificate ${authorityFile}; proxy_ssl_name localhost;
         proxy_ssl_server_name on; proxy_ssl_session_reuse on;`;
  const cache = isCaching
    ? `proxy_cache answers; proxy_cache_methods POST; proxy_cache_key "$request_uri|$request_body";
       proxy_cache_valid 200 5m; add_header X-Cache-Status $upstream_cache_status;`
    : "";
  return `
worker_processes 1;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log crit;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi; uwsgi_temp_path ${directory}/uwsgi; scgi_temp_path ${directory}/scgi;
  proxy_cache_path ${directory}/cache keys_zone=answers:10m max_size=200m;
  client_body_buffer_size 256k;
  keepalive_requests 100000000;
  upstream node { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${authorityFile === undefined ? "http" : "https"}://node; ${trust} proxy_http_version 1.1; proxy_set_header Connection ""; ${cache} }
  }
}`;
}

function nginx(name: string, isCaching: boolean): Subject {
  return {
    name,
    start: async (place) => {
      const program = Bun.which("nginx", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` });
      if (program === null) return null;
      const port = await freePort();
      mkdirSync(join(place.directory, "cache"), { recursive: true });
      const file = join(place.directory, "nginx.conf");
      writeFileSync(file, nginxConfig(port, place, isCaching));
      return listening(spawnChild([program, "-c", file, "-p", place.directory, "-g", "daemon off;"]), port);
    },
  };
}

const haproxy: Subject = {
  name: "haproxy",
  start: async (place) => {
    const program = Bun.which("haproxy", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` });
    if (program === null) return null;
    const port = await freePort();
    const file = join(place.directory, "haproxy.cfg");
    const { authorityFile } = place;
    const trust =
      authorityFile === undefined
        ? ""
        : `ssl verify required ca-file ${authorityFile} sni str(localhost) verifyhost localhost`;
    writeFileSync(
      file,
      `global
  nbthread 1
  maxconn 8192
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  http-reuse always
frontend entry
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  server node 127.0.0.1:${place.upstreamPort} ${trust}
`,
    );
    return listening(spawnChild([program, "-db", "-q", "-f", file]), port);
  },
};

function nodeProgram(name: string, script: string): Subject {
  return {
    name,
    start: async ({ upstreamPort }) => {
      const program = Bun.which("node");
      if (program === null) return null;
      const port = await freePort();
      const path = join(import.meta.dir, "peers", script);
      return listening(spawnChild([program, path, String(port), String(upstreamPort)]), port);
    },
  };
}

/** The stub itself, asked without anything between: what the load and the node could do at best. */
export function direct(upstreamPid: number): Subject {
  return {
    name: "the node itself",
    start: async ({ upstreamPort }) => ({
      port: upstreamPort,
      path: "/",
      pid: upstreamPid,
      headers: {},
      [Symbol.asyncDispose]: async () => undefined,
    }),
  };
}

export const sluiceForms: Readonly<Record<"server" | "rooms", Subject>> = {
  server: { name: "sluice", start: startServer },
  rooms: { name: "sluice (rooms)", start: startRooms },
};

export const nginxCached = nginx("nginx, cached POST", true);
export const nginxPass = nginx("nginx, pass", false);
export { haproxy };
export const nodeHttp = nodeProgram("node:http proxy", "node-proxy.mjs");
export const fastifyProxy = nodeProgram("@fastify/http-proxy", "fastify-proxy.mjs");
