/** @fastify/http-proxy with its defaults: fastify-proxy.mjs <listen port> <upstream port>. Runs on Node.js. */
import proxy from "@fastify/http-proxy";
import fastify from "fastify";

const [listenPort, upstreamPort] = process.argv.slice(2).map(Number);
const app = fastify({ logger: false });
app.register(proxy, { upstream: `http://127.0.0.1:${upstreamPort}` });
await app.listen({ host: "127.0.0.1", port: listenPort });
