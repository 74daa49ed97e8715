import { type Attack, head, holdConnections, inventedTokens, PATIENT_MS } from "./hostile_connections.ts";

const CONNECTIONS = 1040;
const TOKENS = 50;

/** Uploads with invented tokens that send 1 of 100 bytes: as many as the gateway has places. */
export const inventedTokenUploads: Attack = {
  name: "invented tokens, 1 of 100 bytes",
  async run(target, stop, got) {
    const token = await inventedTokens(target, TOKENS);
    const text = () => {
      const headers = { Authorization: `Bearer ${token()}`, "Content-Length": "100" };
      return head("PUT", "/api/v1/buckets/siege/objects/stolen", headers) + "x";
    };
    await holdConnections(target, { count: CONNECTIONS, againMs: PATIENT_MS }, text, stop, got);
  },
};
