import { connect } from "node:net";

/**
 * A request that no client has tidied up, its text sent as Latin-1; answers the status and the raw answer, head and body.
 *
 * @param headers a list of values is sent as several headers
 */
export async function rawRequest(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body = "",
): Promise<[number, string]> {
  const socket = connect(port, "127.0.0.1");
  const all = Object.entries({ Host: `127.0.0.1:${port}`, Connection: "close", ...headers });
  const lines = all.flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`));
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`, "latin1");
  let answer = "";
  for await (const chunk of socket) answer += chunk.toString("latin1");
  return [Number(answer.split(" ")[1]), answer];
}
