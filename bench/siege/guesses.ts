import { type Attack, head, holdConnections, inventedTokens } from "./hostile_connections.ts";

const CONNECTIONS = 16;
const TOKENS = 200;
const AGAIN_MS = 10;

/** Passwords of one account, guessed through S3 routes as fast as they are answered. */
export const s3Guesses: Attack = {
  name: "guesses through S3 routes",
  async run(target, stop, got) {
    const token = await inventedTokens(target, TOKENS, "archive/curator");
    const text = () => head("GET", "/api/v1/buckets/siege/objects/k", { Authorization: `Bearer ${token()}` });
    await holdConnections(target, { count: CONNECTIONS, againMs: AGAIN_MS }, text, stop, got);
  },
};

/** The same at the login of the results role. */
export const loginGuesses: Attack = {
  name: "guesses at the results login",
  async run(target, stop, got) {
    let next = 0;
    const text = () => {
      const body = JSON.stringify({ username: "curator", password: `guess${next++}` });
      const headers = {
        "Content-Type": "application/json",
        "Content-Length": String(body.length),
        Origin: "http://localhost",
      };
      return head("POST", "/results/_login", headers) + body;
    };
    await holdConnections(target, { count: CONNECTIONS, againMs: AGAIN_MS }, text, stop, got);
  },
};
