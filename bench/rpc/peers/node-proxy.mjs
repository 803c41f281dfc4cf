/** The least that a proxy on node:http can be: node-proxy.mjs <listen port> <upstream port>. Runs on Node.js. */
import http from "node:http";

const [listenPort, upstreamPort] = process.argv.slice(2).map(Number);
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

const server = http.createServer((request, response) => {
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const forwarded = http.request(
    { host: "127.0.0.1", port: upstreamPort, method: request.method, path: request.url, headers, agent },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  forwarded.on("error", () => response.destroy());
  request.pipe(forwarded);
});
server.listen(listenPort, "127.0.0.1");
