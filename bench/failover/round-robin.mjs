/** One node after another, whatever it answers: round-robin.mjs <listen port> <node port,...>. Runs on Node.js. */
import http from "node:http";

const [listenPort, nodes] = process.argv.slice(2);
const ports = nodes.split(",").map(Number);
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
let turn = 0;

const server = http.createServer((request, response) => {
  const { host: _host, connection: _connection, ...headers } = request.headers;
  turn = (turn + 1) % ports.length;
  const forwarded = http.request(
    { host: "127.0.0.1", port: ports[turn], method: request.method, path: request.url, headers, agent },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    },
  );
  forwarded.on("error", () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { "content-length": "0" }).end();
  });
  request.pipe(forwarded);
});
server.listen(Number(listenPort), "127.0.0.1");
